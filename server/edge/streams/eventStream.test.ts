/** Tests the keep-alive comments between the items of a stream, on a manual clock. */
import { expect, test } from "vitest";
import { createManualTime } from "../../../test/support/manualTime.ts";
import { withKeepAlive } from "./eventStream.ts";

const everyMs = 15_000;

/** Creates a stream whose items the test sends. */
function createSource() {
  const waiting: ((result: IteratorResult<string>) => void)[] = [];
  const seen = { asked: 0, returned: false };
  const items: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        seen.asked += 1;
        return new Promise((resolve) => waiting.push(resolve));
      },
      async return() {
        seen.returned = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return {
    items,
    seen,
    say: (value: string) => waiting.shift()?.({ done: false, value }),
    end: () => waiting.shift()?.({ done: true, value: undefined }),
  };
}

test("[SE14] a comment is sent 15 seconds after the last output, whenever no item was sent", async () => {
  const time = createManualTime();
  const source = createSource();
  const out: string[] = [];
  const reading = (async () => {
    for await (const text of withKeepAlive(source.items, "sign", everyMs, time)) out.push(text);
  })();
  await time.advance(everyMs - 1);
  expect(out).toEqual([]);
  await time.advance(1);
  expect(out).toEqual(["sign"]);
  await time.advance(everyMs - 1);
  source.say("one");
  await time.advance(0);
  expect(out).toEqual(["sign", "one"]);
  await time.advance(everyMs - 1);
  expect(out).toHaveLength(2);
  await time.advance(1 + 2 * everyMs);
  expect(out).toEqual(["sign", "one", "sign", "sign", "sign"]);
  source.say("two");
  await time.advance(0);
  source.end();
  await reading;
  expect(out.slice(-1)).toEqual(["two"]);
});

test("[SE14] while a reader does not read, no comments pile up and no more items are requested", async () => {
  const time = createManualTime();
  const source = createSource();
  const reader = withKeepAlive(source.items, "sign", everyMs, time);
  const one = reader.next();
  await time.advance(0);
  source.say("one");
  expect(await one).toEqual({ done: false, value: "one" });
  await time.advance(10 * everyMs);
  expect(source.seen.asked).toBe(1);
  const next = reader.next();
  await time.advance(0);
  source.say("two");
  expect(await next).toEqual({ done: false, value: "two" });
});

test("[SE10] a reader that leaves ends the source, and an error of the source reaches the reader", async () => {
  const time = createManualTime();
  const source = createSource();
  const reader = withKeepAlive(source.items, "sign", everyMs, time);
  const sign = reader.next();
  await time.advance(everyMs);
  expect(await sign).toEqual({ done: false, value: "sign" });
  await reader.return(undefined);
  expect(source.seen.returned).toBe(true);
  async function* broken(): AsyncGenerator<string> {
    yield "one";
    throw new Error("broken");
  }
  const failing = withKeepAlive(broken(), "sign", everyMs, time);
  expect(await failing.next()).toEqual({ done: false, value: "one" });
  await expect(failing.next()).rejects.toThrow("broken");
});
