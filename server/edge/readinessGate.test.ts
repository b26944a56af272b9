import { describe, expect, test } from "vitest";
import type { HostApp, HttpReply, HttpRequest, UpgradeAnswer } from "./host/port.ts";
import { createReadinessGate } from "./readinessGate.ts";

function request(path: string): HttpRequest {
  return {
    method: "GET",
    path,
    query: "",
    remoteAddress: "203.0.113.7",
    fault: undefined,
    header: () => undefined,
    body: () => ({ declaredBytes: 0, read: async () => new Uint8Array() }),
    signal: new AbortController().signal,
  };
}

const reply: HttpReply = { status: 200, headers: {}, body: "here" };
const app = (handle: HostApp["handle"]): HostApp => ({ handle, upgrade: () => ({ refuse: reply }) });

describe("before the app is there", () => {
  const door = createReadinessGate(() => "https://a.example");

  test("[OP16] before the app is ready, probes report a live process that is not ready", async () => {
    expect(await door.handle(request("/healthz"))).toMatchObject({ status: 200, body: `{"status":"ok"}` });
    const readiness = await door.handle(request("/readyz"));
    expect(readiness.status).toBe(503);
    expect(JSON.parse(String(readiness.body))).toEqual({ status: "not_ready", writes: "refused", deviations: [] });
  });

  test("[OP16] before the app is ready, any other request is a 503 problem with Retry-After", async () => {
    const refused = await door.handle(request("/articles"));
    expect(refused).toMatchObject({
      status: 503,
      close: true,
      headers: { "retry-after": "1", "content-type": "application/problem+json" },
    });
    expect(JSON.parse(String(refused.body))).toMatchObject({
      code: "unavailable",
      type: "https://a.example/problems/unavailable",
      instance: "/articles",
    });
    expect(await door.upgrade(request("/collab/x"))).toMatchObject({ refuse: { status: 503 } });
  });
});

describe("draining", () => {
  test("[OP16] running requests finish, their connections close, and then the drain ends", async () => {
    const door = createReadinessGate(() => "");
    let finish: (answer: HttpReply) => void = () => {};
    door.open(app(() => new Promise((resolve) => (finish = resolve))));
    expect(door.isServing()).toBe(true);
    const answer = door.handle(request("/slow"));
    let drained = false;
    const drain = door.drain().then(() => {
      drained = true;
    });
    expect(door.isServing()).toBe(false);
    await Promise.resolve();
    expect(drained).toBe(false);
    finish(reply);
    expect(await answer).toEqual({ ...reply, close: true });
    await drain;
    expect(drained).toBe(true);
    expect(await door.upgrade(request("/collab/x"))).toMatchObject({ refuse: { status: 503 } });
  });

  test("[OP16] a failing request does not delay the drain", async () => {
    const door = createReadinessGate(() => "");
    door.open(app(() => Promise.reject(new Error("a bug"))));
    const failed = door.handle(request("/x"));
    const drain = door.drain();
    await expect(failed).rejects.toThrow("a bug");
    await drain;
  });

  async function* pieces(): AsyncGenerator<string> {
    yield "one";
    yield "two";
  }

  /** Starts the drain of a gate. `isOver` gives it time to end. */
  function drainOf(gate: ReturnType<typeof createReadinessGate>) {
    let over = false;
    const ended = gate.drain().then(() => {
      over = true;
    });
    return {
      ended,
      async isOver() {
        await new Promise((resolve) => setImmediate(resolve));
        return over;
      },
    };
  }

  async function streaming(body: AsyncIterable<string>) {
    const gate = createReadinessGate(() => "");
    gate.open(app(() => ({ ...reply, body })));
    const answer = await gate.handle(request("/stream"));
    return { iterator: (answer.body as AsyncIterable<string>)[Symbol.asyncIterator](), drain: drainOf(gate) };
  }

  test("[OP50] a streamed body that is being sent holds up the drain until its last piece", async () => {
    const { iterator, drain } = await streaming(pieces());
    expect(await iterator.next()).toEqual({ done: false, value: "one" });
    expect(await iterator.next()).toEqual({ done: false, value: "two" });
    expect(await drain.isOver()).toBe(false);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await drain.ended;
  });

  test("[OP50] a streamed body that fails, or whose reader leaves, holds up the drain no longer", async () => {
    const failing = await streaming({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("a bug")) }),
    });
    expect(await failing.drain.isOver()).toBe(false);
    await expect(failing.iterator.next()).rejects.toThrow("a bug");
    await failing.drain.ended;

    const left = await streaming(pieces());
    await left.iterator.next();
    expect(await left.drain.isOver()).toBe(false);
    await left.iterator.return?.();
    await left.iterator.return?.();
    await left.drain.ended;

    const unread = await streaming({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: "endless" }) }) });
    expect(await unread.iterator.return?.()).toEqual({ done: true, value: undefined });
    await unread.drain.ended;
  });

  test("[OP50] two streamed bodies are counted apart", async () => {
    const gate = createReadinessGate(() => "");
    gate.open(app(() => ({ ...reply, body: pieces() })));
    const answers = await Promise.all([gate.handle(request("/one")), gate.handle(request("/two"))]);
    const [one, two] = answers.map(({ body }) => (body as AsyncIterable<string>)[Symbol.asyncIterator]());
    const drain = drainOf(gate);
    await one?.return?.();
    await one?.return?.();
    expect(await drain.isOver()).toBe(false);
    await two?.return?.();
    await drain.ended;
  });

  test("[OP51] an upgrade that is being answered holds up the drain, also one that fails", async () => {
    const gate = createReadinessGate(() => "");
    let finish: (answer: UpgradeAnswer) => void = () => {};
    let fail: (error: Error) => void = () => {};
    const upgrades = [
      new Promise<UpgradeAnswer>((resolve) => (finish = resolve)),
      new Promise<UpgradeAnswer>((_, reject) => (fail = reject)),
    ];
    gate.open({ handle: () => reply, upgrade: () => upgrades.shift() ?? { refuse: reply } });
    const [accepted, failed] = [gate.upgrade(request("/collab/one")), gate.upgrade(request("/collab/two"))];
    const drain = drainOf(gate);
    const answer = { refuse: reply };
    finish(answer);
    expect(await accepted).toBe(answer);
    expect(await drain.isOver()).toBe(false);
    fail(new Error("a bug"));
    await expect(failed).rejects.toThrow("a bug");
    await drain.ended;
  });
});
