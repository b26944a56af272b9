/** Tests the signs of life of silent streams, on a manual clock. */
import { expect, test } from "vitest";
import { createManualTime } from "../../../test/support/manualTime.ts";
import { createKeepAlive } from "./keepAlive.ts";

const everyMs = 15_000;

function createRig() {
  const time = createManualTime();
  const timers = { started: 0 };
  const keepAlive = createKeepAlive(
    {
      now: () => time.now(),
      after(delayMs, run) {
        timers.started += 1;
        return time.after(delayMs, run);
      },
    },
    everyMs,
  );
  /** Adds a stream that writes down its output. */
  function open() {
    const stream = {
      out: [] as string[],
      isRead: true,
      writtenAtMs: time.now(),
      write(text: string) {
        stream.out.push(text);
        stream.writtenAtMs = time.now();
      },
      keepAlive() {
        if (stream.isRead) stream.write("sign");
      },
    };
    keepAlive.add(stream);
    return stream;
  }
  return { time, timers, keepAlive, open };
}

test("[SE14] a comment is sent 15 seconds after the last output, whenever no item was sent", async () => {
  const { time, open } = createRig();
  const { out, write } = open();
  await time.advance(everyMs - 1);
  expect(out).toEqual([]);
  await time.advance(1);
  expect(out).toEqual(["sign"]);
  await time.advance(everyMs - 1);
  write("one");
  expect(out).toEqual(["sign", "one"]);
  await time.advance(everyMs - 1);
  expect(out).toHaveLength(2);
  await time.advance(1 + 2 * everyMs);
  expect(out).toEqual(["sign", "one", "sign", "sign", "sign"]);
});

test("[SE14] while a reader does not read, no comments pile up", async () => {
  const { time, timers, open } = createRig();
  const stream = open();
  stream.isRead = false;
  await time.advance(10 * everyMs);
  expect([stream.out, timers.started <= 11]).toEqual([[], true]);
});

test("[SE62] all streams share one timer, and a thousand silent ones wake the process once a second at most", async () => {
  const { time, timers, keepAlive, open } = createRig();
  const streams = [];
  for (let at = 0; at < 1000; at += 1) {
    streams.push(open());
    await time.advance(10);
  }
  timers.started = 0;
  await time.advance(60_000);
  expect(timers.started).toBeLessThanOrEqual(60);
  for (const { out } of streams) expect(out.length).toBeGreaterThanOrEqual(4);
  for (const stream of streams) keepAlive.delete(stream);
  timers.started = 0;
  await time.advance(60_000);
  expect(timers.started).toBe(0);
});
