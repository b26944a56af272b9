/** Plays the machine of an open article on a simulated clock. */

import { expect, test } from "vitest";
import { createActor, SimulatedClock, type SnapshotFrom } from "xstate";
import type { Ticket } from "./api.ts";
import { type ArticleEffect, type ArticleEvent, articleMachine } from "./articleMachine.ts";

const hourMs = 3_600_000;

/** Starts the machine. `tickets` answers each request for a ticket: with a ticket, or by throwing. */
function open(tickets: (count: number) => Ticket | Error = () => ticket(), hasText = false) {
  const clock = new SimulatedClock();
  const effects: ArticleEffect[] = [];
  let asked = 0;
  const actor = createActor(articleMachine, {
    clock,
    input: {
      async getTicket() {
        asked += 1;
        const answer = tickets(asked);
        if (answer instanceof Error) throw answer;
        return answer;
      },
      now: () => clock.now(),
      random: () => 1,
      hasText,
    },
  });
  for (const type of ["socket.open", "socket.close", "server.ask"] as const) actor.on(type, (effect) => effects.push(effect));
  actor.start();
  return {
    clock,
    actor,
    send: (...events: readonly (ArticleEvent["type"] | ArticleEvent)[]) => {
      for (const event of events) actor.send((typeof event === "string" ? { type: event } : event) as ArticleEvent);
    },
    /** Runs what the machine has invoked. */
    settle: () => new Promise<void>((resolve) => setImmediate(resolve)),
    effects: () => effects.splice(0).map(({ type }) => type),
    value: () => actor.getSnapshot().value as SnapshotFrom<typeof articleMachine>["value"],
    context: () => actor.getSnapshot().context,
    tickets: () => asked,
  };
}

const ticket = (expiresAtMs = hourMs): Ticket => ({ ticket: "t", expiresAt: new Date(expiresAtMs).toISOString() });
const refusal = (status: number, code: string) => Object.assign(new Error(`refused: ${code}`), { status, code });
const closed = (code: number, detail = ""): ArticleEvent => ({ type: "socket.closed", code, detail });

/** Opens an article whose credential may write. */
async function openWriter(tickets?: (count: number) => Ticket | Error) {
  const played = open(tickets);
  await played.settle();
  expect(played.effects()).toEqual(["socket.open"]);
  played.send("server.asked", "socket.synced");
  expect(played.value()).toEqual({ active: { writable: "saved" } });
  return played;
}

test("[CL1] a change is saved when the server has answered a question that was asked after it", async () => {
  const { clock, send, value, context, effects } = await openWriter();
  clock.increment(1000);
  send("text.changed");
  expect(effects()).toEqual(["server.ask"]);
  expect(context().saves).toMatchObject({ unsaved: 1, sinceMs: 1000 });
  clock.increment(20);
  send("text.changed", "text.changed");
  expect(effects()).toEqual([]);
  send("server.answered");
  expect(context().saves).toEqual({ unsaved: 2, sinceMs: 1020 });
  clock.increment(500);
  expect(effects()).toEqual(["server.ask"]);
  send("server.answered");
  expect(value()).toEqual({ active: { writable: "saved" } });
  expect(context().saves).toEqual({ unsaved: 0 });
});

test("[CL1] a question that got no answer before the connection ended is asked again on the next one", async () => {
  const { clock, send, value, context, effects, settle } = await openWriter();
  send("text.changed", closed(1006));
  expect(effects()).toEqual(["server.ask"]);
  expect(value()).toEqual({ active: { offline: "waiting" } });
  clock.increment(250);
  await settle();
  expect(effects()).toEqual(["socket.open"]);
  send("server.asked", "socket.synced");
  expect(effects()).toEqual(["server.ask"]);
  expect(context().saves.unsaved).toBe(1);
  send("server.answered");
  expect(value()).toEqual({ active: { writable: "saved" } });
});

test("[CL2] text that was in the document before counts as one unsaved change", async () => {
  const { send, context, effects, settle } = open(undefined, true);
  expect(context().saves).toEqual({ unsaved: 1, sinceMs: 0 });
  await settle();
  send("server.asked", "socket.synced");
  expect(effects()).toEqual(["socket.open", "server.ask"]);
});

test("[CL3] a ticket that is about to expire is renewed before the next connect, a good one is used again", async () => {
  const { clock, send, effects, settle, tickets } = await openWriter((count) => ticket(count * hourMs));
  send(closed(1012, "the server restarts"));
  clock.increment(250);
  await settle();
  expect([effects(), tickets()]).toEqual([["socket.open"], 1]);
  send("server.asked", "socket.synced");
  clock.increment(hourMs - 20_000);
  send(closed(1006));
  clock.increment(250);
  await settle();
  expect([effects(), tickets()]).toEqual([["socket.open"], 2]);
});

test.each([4401, 4408])("[CL3] after %i a new ticket is used at once, and later ones after growing pauses", async (code) => {
  const { clock, send, effects, settle, tickets } = await openWriter();
  for (const [count, pauseMs] of [0, 500, 1000, 2000, 4000, 5000, 5000].entries()) {
    send(closed(code));
    clock.increment(pauseMs - 1);
    await settle();
    if (pauseMs > 0) expect(effects()).toEqual([]);
    clock.increment(1);
    await settle();
    expect([effects(), tickets()]).toEqual([["socket.open"], count + 2]);
  }
});

test("[CL4] after 4429 the next attempt waits at least five seconds", async () => {
  const { clock, send, effects, settle } = await openWriter();
  send(closed(4429));
  clock.increment(5000);
  await settle();
  expect(effects()).toEqual([]);
  clock.increment(250);
  await settle();
  expect(effects()).toEqual(["socket.open"]);
});

test("[CL4] while no ticket can be had the machine tries again, after the time that the server names", async () => {
  const played = open(
    (count) => [new TypeError("fetch failed"), Object.assign(refusal(429, "rate_limited"), { retryAfter: 30 })][count - 1] ?? ticket(),
  );
  const { clock, settle, value, context, effects } = played;
  await settle();
  expect(value()).toEqual({ active: { offline: "waiting" } });
  expect(context().problem).toEqual({ code: "unreachable", detail: "fetch failed" });
  clock.increment(250);
  await settle();
  clock.increment(30_000);
  await settle();
  expect(effects()).toEqual([]);
  clock.increment(500);
  await settle();
  expect(effects()).toEqual(["socket.open"]);
});

test("[CL5] revoked access stops all attempts and keeps the unsaved text until a retry", async () => {
  const { clock, send, value, context, effects, settle, tickets } = await openWriter((count) =>
    count === 2 ? refusal(401, "key_revoked") : ticket(),
  );
  send(closed(4410, "the key was revoked"), "text.changed");
  expect(value()).toBe("revoked");
  expect(context()).toMatchObject({ problem: { code: "key_revoked", detail: "the key was revoked" }, saves: { unsaved: 1 } });
  clock.increment(hourMs);
  await settle();
  expect([effects(), tickets()]).toEqual([["socket.close"], 1]);
  send("retry");
  await settle();
  expect([value(), tickets()]).toEqual(["revoked", 2]);
  expect(context().problem).toEqual({ code: "key_revoked", detail: "refused: key_revoked" });
  send("retry");
  await settle();
  expect(effects()).toEqual(["socket.close", "socket.open"]);
  send("server.asked", "socket.synced");
  expect(value()).toEqual({ active: { writable: { saving: "asking" } } });
});

test("[CL5] the reason of a close stays before the refusal of the ticket that follows it", async () => {
  const { clock, send, value, context, settle } = await openWriter((count) => (count === 2 ? refusal(401, "unauthenticated") : ticket()));
  send(closed(4401, "the account was disabled by an operator"));
  clock.increment(1);
  await settle();
  expect(value()).toBe("revoked");
  expect(context().problem?.detail).toBe("the account was disabled by an operator: refused: unauthenticated");
});

test.each([4403, 4404, 4409])("[CL5] %i ends access", async (code) => {
  const { send, value } = await openWriter();
  send(closed(code));
  expect(value()).toBe("revoked");
});

test("[CL6] a connection on which the server asks for nothing is read-only, and its changes stay unsaved", async () => {
  const { send, value, context, effects, settle } = open();
  await settle();
  send("socket.synced", "text.changed");
  expect(value()).toEqual({ active: "readOnly" });
  expect([effects(), context().saves.unsaved]).toEqual([["socket.open"], 1]);
  send({ type: "server.refused", code: "insufficient_permission", detail: "may read" });
  expect(value()).toEqual({ active: "readOnly" });
  send("server.asked");
  expect(effects()).toEqual(["server.ask"]);
  send("server.answered");
  expect(value()).toEqual({ active: { writable: "saved" } });
});

test("[CL6] a writer who becomes a reader is read-only, and an answer does not save what was refused", async () => {
  const { send, value, context } = await openWriter();
  send("text.changed", { type: "server.refused", code: "insufficient_permission", detail: "may read" }, "server.answered");
  expect(value()).toEqual({ active: "readOnly" });
  expect(context()).toMatchObject({ saves: { unsaved: 1 }, problem: { code: "insufficient_permission", detail: "may read" } });
});

test("[CL7] a refused change ends the connection with the code and the words of the server, until a retry", async () => {
  const { clock, send, value, context, effects, settle } = await openWriter((count) => ticket(count * 2 * hourMs));
  const refused: ArticleEvent = { type: "server.refused", code: "content_too_large", detail: "2 MiB" };
  send("text.changed", refused, "server.answered");
  clock.increment(hourMs);
  await settle();
  expect(value()).toBe("refused");
  expect(context()).toMatchObject({ saves: { unsaved: 1 }, problem: { code: "content_too_large", detail: "2 MiB" } });
  expect(effects()).toEqual(["server.ask", "socket.close"]);
  send("text.changed", "retry");
  expect(context()).toMatchObject({ saves: { unsaved: 2 }, problem: undefined });
  send("server.asked", "socket.synced", "server.answered");
  expect(effects()).toEqual(["socket.open", "server.ask"]);
  expect(value()).toEqual({ active: { writable: "saved" } });
});

test.each([1009, 4400, 4413])("[CL7] %i means that the content is refused", async (code) => {
  const { send, value } = await openWriter();
  send(closed(code));
  expect(value()).toBe("refused");
});

test("[CL9] 1009 says that the text is too large, and nothing is tried until a retry", async () => {
  const { clock, send, value, context, effects, settle } = await openWriter();
  send("text.changed", closed(1009, "a message may have at most 4194304 bytes"));
  clock.increment(hourMs);
  await settle();
  expect(value()).toBe("refused");
  const detail = "a message may have at most 4194304 bytes. Copy the text, delete a part of it, and try again.";
  expect(context()).toMatchObject({ saves: { unsaved: 1 }, problem: { code: "payload_too_large", detail } });
  expect(effects()).toEqual(["server.ask", "socket.close"]);
});

test("[CL9] a change that is too large for an open connection is left to a new one, which begins with it", async () => {
  const { send, value, context, effects, tickets } = await openWriter();
  send("text.large", "text.changed");
  expect(effects()).toEqual(["socket.close", "socket.open"]);
  expect(value()).toEqual({ active: { offline: "connecting" } });
  send("text.large", "text.changed");
  expect(effects()).toEqual(["socket.close", "socket.open"]);
  send("server.asked", "socket.synced");
  expect(context().saves).toMatchObject({ unsaved: 2, asked: 2 });
  send("server.answered");
  expect(value()).toEqual({ active: { writable: "saved" } });
  expect(tickets()).toBe(1);
});

test.each([
  [{ active: "readOnly" }, ["socket.synced"]],
  [{ active: { offline: "waiting" } }, [closed(4429)]],
  ["revoked", [closed(4410)]],
] as const)("[CL9] in the state %j a large change begins no connection", async (state, events) => {
  const played = open();
  await played.settle();
  played.send(...events);
  played.effects();
  played.send("text.large", "text.changed");
  expect([played.value(), played.effects()]).toEqual([state, []]);
});

test("[CL8] close ends the machine in every state", async () => {
  for (const events of [[], [closed(1006)], [closed(4410)], [closed(4400)]]) {
    const { actor, send, effects } = await openWriter();
    send(...events);
    effects();
    send("close");
    expect(actor.getSnapshot().status).toBe("done");
    expect(effects()).toContain("socket.close");
  }
});
