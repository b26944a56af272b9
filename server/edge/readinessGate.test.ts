import { describe, expect, test } from "vitest";
import type { HostApp, HttpReply, HttpRequest } from "./host/port.ts";
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
});
