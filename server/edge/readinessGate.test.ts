import { describe, expect, test } from "vitest";
import type { BodySink, HostApp, HttpReply, HttpRequest, StreamedBody, UpgradeAnswer } from "./host/port.ts";
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

  /** Opens the bodies as a host does. `sent` has what each of them has written. */
  async function streaming(...bodies: readonly StreamedBody[]) {
    const gate = createReadinessGate(() => "");
    const waiting = [...bodies];
    gate.open(app(() => ({ ...reply, body: waiting.shift() ?? "" })));
    const sent: string[] = [];
    const opened: StreamedBody[] = [];
    for (const _ of bodies) {
      const body = (await gate.handle(request("/stream"))).body as StreamedBody;
      opened.push(body);
      body.open({
        write: (piece) => sent.push(Buffer.from(piece).toString()) > 0,
        end: () => body.close(),
        cut: () => body.close(),
      });
    }
    return { sent, opened, drain: drainOf(gate) };
  }

  /** A body that writes one piece and then waits for a call of `end` or `fail`. */
  function waitingBody() {
    let sink: BodySink | undefined;
    const body: StreamedBody = {
      open(opened) {
        sink = opened;
        sink.write(Buffer.from("one"));
      },
      drain() {},
      close() {},
    };
    return { body, end: () => sink?.end(), fail: () => sink?.cut(new Error("a bug")) };
  }

  test("[OP50] a streamed body that is being sent holds up the drain until its last piece", async () => {
    const { body, end } = waitingBody();
    const { sent, drain } = await streaming(body);
    expect(sent).toEqual(["one"]);
    expect(await drain.isOver()).toBe(false);
    end();
    await drain.ended;
  });

  test("[OP50] a streamed body that fails, or whose reader leaves, holds up the drain no longer", async () => {
    const failing = waitingBody();
    const failed = await streaming(failing.body);
    expect(await failed.drain.isOver()).toBe(false);
    failing.fail();
    await failed.drain.ended;

    const left = await streaming(waitingBody().body);
    expect(await left.drain.isOver()).toBe(false);
    left.opened[0]?.close();
    await left.drain.ended;

    const gate = createReadinessGate(() => "");
    gate.open(app(() => ({ ...reply, body: waitingBody().body })));
    const unread = await gate.handle(request("/stream"));
    const drain = drainOf(gate);
    expect(await drain.isOver()).toBe(false);
    (unread.body as StreamedBody).close();
    await drain.ended;
  });

  test("[OP50] two streamed bodies are counted apart", async () => {
    const [one, two] = [waitingBody(), waitingBody()];
    const { drain } = await streaming(one.body, two.body);
    one.end();
    expect(await drain.isOver()).toBe(false);
    two.end();
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
