/** Tests the promises of the actor runtime on every storage, with a manual clock. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import type { EffectOutcome } from "../../server/platform/actors/port.ts";
import { CommitConflict } from "../../server/platform/actors/port.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { StorageFullError } from "../../server/platform/storage/port.ts";
import { createActorNode, testLeaseMs } from "../support/actorNode.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { createParcelKind, type ParcelContext, type ParcelEvent, parcelRecord } from "../support/parcelMachine.ts";
import { everyStorage } from "../support/storages.ts";

type Outcome = EffectOutcome<ParcelContext, ParcelEvent>;
const partSent = (params: unknown): Outcome => ({ kind: "event", event: { type: "part.sent", part: (params as { part: string }).part } });
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => (reason instanceof AppError ? reason : undefined),
  );

/** Creates an effect that the test ends. */
function createGate() {
  const open: { part: string; attempt: number; signal: AbortSignal; end(outcome?: Outcome): void; fail(reason: Error): void }[] = [];
  const kind = (options: Parameters<typeof createParcelKind>[1] = {}) =>
    createParcelKind(
      ({ params, attempt, signal }) =>
        new Promise((resolve, reject) => {
          const { part } = params as { part: string };
          open.push({ part, attempt, signal, end: (outcome = partSent(params)) => resolve(outcome), fail: reject });
        }),
      options,
    );
  return { open, kind };
}

describe.each(everyStorage())("%s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  const newId = () => createIds(time).next("art", 7);
  const read = async (id: string) => (await storage.records.get(parcelRecord, id))?.value;

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
  });
  afterEach(() => close());

  const instant = () => createParcelKind(async ({ params }) => partSent(params));

  test("[AC4] a refused event changes nothing and returns the state and the allowed events", async () => {
    const { kind, provided } = createGate().kind();
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    const made = await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: [] });
    const before = await storage.records.get(parcelRecord, id);
    const refused = await refusal(actors.send(kind, id, { type: "parcel.send", parts: [] }));
    expect(refused?.code).toBe("invalid_transition");
    expect(refused?.facts).toEqual({ currentState: "sending", allowed: ["parcel.note", "parcel.discard"] });
    expect(refused?.message).toContain("sending");
    expect(await storage.records.get(parcelRecord, id)).toEqual(before);
    expect(actors.allowed(kind, made.value)).toEqual({
      state: "packed",
      allowed: ["parcel.send", "parcel.note", "parcel.wait", "parcel.discard"],
      operations: ["parcel.send", "parcel.note", "parcel.wait", "parcel.discard"],
    });
    expect((await refusal(actors.send(kind, newId(), { type: "parcel.note" })))?.code).toBe("not_found");
    expect((await refusal(actors.create(kind, id, {})))?.code).toBe("already_exists");
    const stale = actors.send(kind, id, { type: "parcel.note" }, { atRevision: made.revision });
    expect((await refusal(stale))?.code).toBe("precondition_failed");
  });

  test("[AC5] effects of one actor run in order, and actors run in parallel up to the limits", async () => {
    const gate = createGate();
    const { kind, provided } = gate.kind({ maxInFlight: 3, lane: ({ lane }) => (lane === undefined ? undefined : { name: lane, max: 1 }) });
    const { actors } = createActorNode(storage, time, [provided]);
    const narrow = [newId(), newId()];
    const wide = [newId(), newId(), newId()];
    for (const id of narrow) await actors.create(kind, id, { lane: "narrow" });
    for (const id of wide) await actors.create(kind, id, {});
    for (const id of [...narrow, ...wide]) await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.advance(0);
    // One effect of the narrow lane and two others run: three in total, and no second effect of one actor.
    expect(gate.open.map(({ part }) => part)).toEqual(["a", "a", "a"]);
    gate.open[0]?.end();
    await time.advance(0);
    expect(gate.open).toHaveLength(4);
    for (let at = 1; at < 10; at += 1) {
      await time.until(() => gate.open.length > at);
      gate.open[at]?.end();
    }
    for (const id of [...narrow, ...wide]) {
      await time.until(async () => (await read(id))?.state === "sent");
      expect((await read(id))?.context.order).toEqual(["a", "b"]);
    }
    expect(gate.open).toHaveLength(10);
  });

  test("[AC5] an effect that waits for room stays with its node, and moves on only if the node dies", async () => {
    const first = createGate();
    const { kind, provided } = first.kind({ maxInFlight: 1 });
    let dead = false;
    const never = new Promise<never>(() => {});
    const mortal: Storage = {
      ...storage,
      commit: (batch) => (dead ? never : storage.commit(batch)),
      due: {
        ...storage.due,
        renew: (row, leaseMs) => (dead ? never : storage.due.renew(row, leaseMs)),
        claim: (options) => (dead ? never : storage.due.claim(options)),
      },
    };
    const one = createActorNode(mortal, time, [provided]);
    const ids = [newId(), newId(), newId()];
    for (const id of ids) {
      await one.actors.create(kind, id, {});
      await one.actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    }
    const second = createGate();
    createActorNode(storage, time, [second.kind().provided]);
    await time.advance(25 * testLeaseMs);
    expect([first.open.length, second.open.length]).toEqual([1, 0]);
    first.open[0]?.end();
    await time.until(() => first.open.length === 2);
    dead = true;
    await time.until(() => second.open.length === 3, { withinMs: 13 * testLeaseMs });
    expect(second.open.map(({ part }) => part).sort()).toEqual(["a", "a", "b"]);
  });

  test("[AC6] an effect that lost its lease is aborted, and its later result is refused", async () => {
    const first = createGate();
    const second = createGate();
    const { kind: firstKind, provided: firstProvided } = first.kind();
    const { provided: secondProvided } = second.kind();
    let stopped = false;
    const never = new Promise<never>(() => {});
    const stoppable: Storage = {
      ...storage,
      due: {
        ...storage.due,
        renew: (row, leaseMs) => (stopped ? never : storage.due.renew(row, leaseMs)),
        claim: (options) => (stopped ? never : storage.due.claim(options)),
      },
    };
    const one = createActorNode(stoppable, time, [firstProvided]);
    createActorNode(storage, time, [secondProvided]);
    const id = newId();
    await one.actors.create(firstKind, id, {});
    await one.actors.send(firstKind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.advance(4 * testLeaseMs);
    expect(first.open).toHaveLength(1);
    expect(first.open[0]?.signal.aborted).toBe(false);
    expect(second.open).toHaveLength(0);
    stopped = true;
    await time.advance(testLeaseMs + 1000);
    expect(first.open[0]?.signal.aborted).toBe(true);
    expect(second.open).toHaveLength(1);
    expect(second.open[0]).toMatchObject({ part: "a", attempt: 2 });
    first.open[0]?.end();
    await time.advance(0);
    expect((await read(id))?.context.order).toEqual([]);
    second.open[0]?.end();
    await time.until(() => second.open.length === 2);
    expect((await read(id))?.context.results).toEqual({ a: 1 });
  });

  test("[AC6] a node that claims a row again waits for the end of its own earlier effect", async () => {
    let deaf = true;
    const flaky: Storage = {
      ...storage,
      due: { ...storage.due, renew: async (row, leaseMs) => (deaf ? new Promise<never>(() => {}) : storage.due.renew(row, leaseMs)) },
    };
    const gate = createGate();
    const { kind, provided } = gate.kind();
    const { actors } = createActorNode(flaky, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.advance(3 * testLeaseMs);
    expect(gate.open.map(({ signal }) => signal.aborted)).toEqual([true]);
    deaf = false;
    await time.advance(2 * testLeaseMs);
    expect(gate.open).toHaveLength(1);
    gate.open[0]?.end();
    await time.until(() => gate.open.length === 2);
    expect((await read(id))?.context.results).toEqual({});
    expect(gate.open[1]?.part).toBe("a");
    gate.open[1]?.end();
    await time.until(() => gate.open.length === 3);
    expect((await read(id))?.context.results).toEqual({ a: 1 });
  });

  test.each(["commit", "claim"] as const)(
    "[AC6] a lease that ended before the %s that took it was answered starts no effect",
    async (late) => {
      const taker = createGate();
      const { kind: takerKind, provided: takerProvided } = taker.kind();
      let answer = (): void => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      let taken = false;
      const slow: Storage = {
        ...storage,
        async commit(batch) {
          const done = await storage.commit(batch);
          taken ||= late === "commit" && (batch.due ?? []).some(({ op }) => op === "schedule");
          if (taken) await answered;
          return done;
        },
        due: {
          ...storage.due,
          async claim(options) {
            const rows = await storage.due.claim(options);
            taken ||= late === "claim" && rows.length > 0;
            if (taken) await answered;
            return rows;
          },
        },
      };
      const id = newId();
      if (late === "claim") {
        // The first owner of the row dies at once.
        const dying = createDyingStorage(storage, 2, "after");
        const { kind: deadKind, provided: deadProvided } = createGate().kind();
        const { actors } = createActorNode(dying, time, [deadProvided]);
        await actors.create(deadKind, id, {});
        actors.send(deadKind, id, { type: "parcel.send", parts: ["a"] }).catch(() => {});
        await time.advance(testLeaseMs);
        createActorNode(slow, time, [takerProvided]);
      } else {
        const { actors } = createActorNode(slow, time, [takerProvided]);
        await actors.create(takerKind, id, {});
        actors.send(takerKind, id, { type: "parcel.send", parts: ["a"] }).catch(() => {});
      }
      await time.until(() => taken);
      const second = createGate();
      createActorNode(storage, time, [second.kind().provided]);
      await time.advance(0);
      await time.advance(testLeaseMs + 1000);
      expect(second.open).toHaveLength(1);
      answer();
      await time.advance(0);
      expect(taker.open).toHaveLength(0);
      second.open[0]?.end();
      await time.until(async () => (await read(id))?.context.results.a === 1);
    },
  );

  test("[AC7] another node takes over the effects of a dead node when their lease ends, not before", async () => {
    const dying = createDyingStorage(storage, 3, "before");
    const dead = createGate();
    const { kind: deadKind, provided: deadProvided } = dead.kind();
    const one = createActorNode(dying, time, [deadProvided]);
    const { provided } = instant();
    const two = createActorNode(storage, time, [provided]);
    const id = newId();
    await one.actors.create(deadKind, id, {});
    await one.actors.send(deadKind, id, { type: "parcel.send", parts: ["a", "b"] });
    dead.open[0]?.end();
    await time.advance(testLeaseMs - 1);
    expect((await read(id))?.context.order).toEqual([]);
    await time.until(async () => (await read(id))?.state === "sent", { withinMs: 1000 });
    await time.advance(20_000);
    expect((await read(id))?.context).toMatchObject({ results: { a: 1, b: 1 }, rang: 1 });
    await two.pump.drain(AbortSignal.abort());
  });

  test("[AC8] failed attempts pause as their kind says, and at the end the actor receives an event", async () => {
    const attempts: number[] = [];
    const { kind, provided } = createParcelKind(
      async ({ attempt }) => {
        attempts.push(attempt);
        throw new Error("the road is closed");
      },
      { backoffMs: [2000, 7000] },
    );
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: [] });
    await time.advance(0);
    await time.advance(1999);
    expect(attempts).toEqual([1]);
    await time.advance(1);
    expect(attempts).toEqual([1, 2]);
    await time.advance(6999);
    expect(attempts).toEqual([1, 2]);
    await time.advance(1);
    // The third attempt was the last one. The next effect has its own attempts.
    expect(attempts).toEqual([1, 2, 3, 1]);
    expect(await read(id)).toMatchObject({ state: "lost", context: { reason: "the road is closed" } });
  });

  test("[AC8] an effect that asks for a retry runs at the time it names", async () => {
    const attempts: number[] = [];
    const { kind, provided } = createParcelKind(async ({ attempt, params }) => {
      attempts.push(attempt);
      return attempt < 4 ? { kind: "retry", atMs: time.now() + 60_000, reason: "not yet" } : partSent(params);
    });
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: [] });
    await time.until(async () => (await read(id))?.state === "sent");
    expect(attempts).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });

  test("[AC9] two nodes that move one actor at once lose no event", async () => {
    const kinds = [instant(), instant()] as const;
    const nodes = kinds.map(({ provided }) => createActorNode(storage, time, [provided]));
    const id = newId();
    await nodes[0]?.actors.create(kinds[0].kind, id, {});
    const notes = Array.from({ length: 40 }, (_, at) =>
      nodes[at % 2]?.actors.send((at % 2 === 0 ? kinds[0] : kinds[1]).kind, id, { type: "parcel.note" }),
    );
    const revisions = (await Promise.all(notes)).map((stored) => stored?.revision);
    expect((await read(id))?.context.notes).toBe(40);
    expect(new Set(revisions).size).toBe(40);
  });

  test("[AC10] a draining node waits for its running effects, then releases the rest unchanged", async () => {
    const gate = createGate();
    const { kind, provided } = gate.kind({ maxInFlight: 1 });
    const one = createActorNode(storage, time, [provided]);
    const ids = [newId(), newId()];
    for (const id of ids) {
      await one.actors.create(kind, id, {});
      await one.actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    }
    expect(gate.open).toHaveLength(1);
    const deadline = new AbortController();
    const drained = one.pump.drain(deadline.signal);
    gate.open[0]?.end();
    await drained;
    expect((await read(ids[0] as string))?.context.order).toEqual(["a"]);
    expect(gate.open).toHaveLength(1);
    const other = createGate();
    createActorNode(storage, time, [other.kind().provided]);
    await time.advance(0);
    expect(other.open.map(({ part, attempt }) => `${part} ${attempt}`).sort()).toEqual(["a 1", "b 1"]);
  });

  test("[AC10] an effect that passes the drain deadline is aborted, and another node takes it at once", async () => {
    const gate = createGate();
    const { kind, provided } = gate.kind();
    const one = createActorNode(storage, time, [provided]);
    const id = newId();
    await one.actors.create(kind, id, {});
    await one.actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    await one.pump.drain(AbortSignal.abort());
    expect(gate.open[0]?.signal.aborted).toBe(true);
    const other = createGate();
    createActorNode(storage, time, [other.kind().provided]);
    await time.advance(0);
    expect(other.open).toMatchObject([{ part: "a", attempt: 1 }]);
    gate.open[0]?.end();
    await time.advance(0);
    expect((await read(id))?.context.order).toEqual([]);
  });

  test("[AC3] a timer has no effect once the actor has moved, unless it was set to stay armed", async () => {
    const { kind, provided } = instant();
    const { actors } = createActorNode(storage, time, [provided]);
    const [moved, stayed] = [newId(), newId()];
    for (const id of [moved, stayed]) {
      await actors.create(kind, id, {});
      await actors.send(kind, id, { type: "parcel.wait", untilMs: time.now() + 30_000 });
    }
    await actors.send(kind, moved, { type: "parcel.note" });
    expect((await read(moved))?.timers).toEqual({});
    await time.advance(29_999);
    expect((await read(stayed))?.context.idled).toBe(0);
    await time.advance(1);
    expect((await read(stayed))?.context.idled).toBe(1);
    expect((await read(moved))?.context.idled).toBe(0);
    expect((await storage.due.stats()).rows).toBe(0);
  });

  test("[AC11] writes that accompany an event are in its commit, and are made again if it is retried", async () => {
    const { kind, provided } = instant();
    const { actors } = createActorNode(storage, time, [provided]);
    const [id, other] = [newId(), newId()];
    await actors.create(kind, id, {});
    let made = 0;
    const row = { id: "beside", kind: "test", dueAtMs: time.now() + 1_000_000, payload: null, attempts: 0 };
    const sent = actors.send(
      kind,
      id,
      { type: "parcel.note" },
      {
        async gather(unit, next, previous) {
          made += 1;
          expect(next.context.notes).toBe((previous?.value.context.notes ?? 0) + 1);
          if (made === 1) {
            const current = await storage.records.get(parcelRecord, id);
            if (current === undefined) throw new Error("gone");
            const value = { ...current.value, context: { ...current.value.context, notes: 10 } };
            await storage.commit({ partition: 7, records: [{ op: "put", type: parcelRecord, value, replacing: current }] });
          }
          unit.create(kind, other, { lane: "x" });
          unit.due({ op: "schedule", row });
        },
      },
    );
    expect((await sent).value.context.notes).toBe(11);
    expect(made).toBe(2);
    expect(await read(other)).toMatchObject({ state: "packed", context: { lane: "x" } });
    expect((await storage.due.get(7, "beside"))?.id).toBe("beside");
    const stale = { op: "acknowledge", id: "beside", fence: 99 } as const;
    const refused = actors.send(kind, id, { type: "parcel.note" }, { gather: (unit) => unit.due(stale) });
    await expect(refused).rejects.toBeInstanceOf(CommitConflict);
    expect((await read(id))?.context.notes).toBe(11);
  });

  test("[AC12] removing an actor removes its effects and timers", async () => {
    const gate = createGate();
    const { kind, provided } = gate.kind();
    const { actors } = createActorNode(storage, time, [provided]);
    const [byEvent, byHand] = [newId(), newId()];
    for (const id of [byEvent, byHand]) {
      await actors.create(kind, id, {});
      await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    }
    expect((await storage.due.stats()).rows).toBe(4);
    await actors.send(kind, byEvent, { type: "parcel.discard" });
    const stored = await storage.records.get(parcelRecord, byHand);
    if (stored === undefined) throw new Error("gone");
    expect(await actors.remove(kind, byHand, { ...stored, revision: 1 })).toBe(false);
    expect(await actors.remove(kind, byHand, stored)).toBe(true);
    for (const { end } of gate.open) end();
    await time.advance(60_000);
    expect(await read(byEvent)).toBeUndefined();
    expect(await read(byHand)).toBeUndefined();
    expect((await storage.due.stats()).rows).toBe(0);
    expect(gate.open).toHaveLength(2);
  });

  test("[AC13] a record of another machine version runs only if its record type upgrades it", async () => {
    const { kind, provided } = instant();
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    const { value } = await actors.create(kind, id, {});
    const replacing = await storage.records.get(parcelRecord, id);
    const older = { ...value, machineVersion: 0 };
    await storage.commit({ partition: 7, records: [{ op: "put", type: parcelRecord, value: older, replacing: replacing ?? null }] });
    await expect(actors.send(kind, id, { type: "parcel.note" })).rejects.toThrow("must upgrade it");
    expect((await read(id))?.context.notes).toBe(0);
  });

  test("[AC2] while the store refuses writes, a finished effect waits with its result and never reruns", async () => {
    let refuse = false;
    const full: Storage = {
      ...storage,
      commit: async (batch) => {
        if (refuse) throw new StorageFullError("full");
        return storage.commit(batch);
      },
    };
    const gate = createGate();
    const { kind, provided } = gate.kind();
    const { actors } = createActorNode(full, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.advance(0);
    refuse = true;
    gate.open[0]?.end();
    await expect(actors.send(kind, id, { type: "parcel.note" })).rejects.toBeInstanceOf(StorageFullError);
    await time.advance(60_000);
    expect(gate.open).toHaveLength(1);
    refuse = false;
    await time.until(() => gate.open.length === 2);
    expect(gate.open[1]?.part).toBe("b");
    expect((await read(id))?.context.results).toEqual({ a: 1 });
  });

  test("[AC17] known work runs on time, other work is found twice a second, and lateness is reported", async () => {
    const lags: [string, number][] = [];
    const { kind, provided } = instant();
    const node = createActorNode(storage, time, [provided], { lag: (row, lagMs) => lags.push([row, lagMs]) });
    const id = newId();
    await node.actors.create(kind, id, {});
    await node.actors.send(kind, id, { type: "parcel.wait", untilMs: time.now() + 7777 });
    await time.advance(7777);
    expect((await read(id))?.context.idled).toBe(1);
    expect(lags).toEqual([["actor.timer", 0]]);
    // Another node wrote this record, and this node was not notified.
    const elsewhere = createIds(time).next("art", 11);
    await node.actors.create(kind, elsewhere, {});
    const row = {
      id: "foreign",
      kind: "actor.timer",
      dueAtMs: time.now() + 130,
      payload: { actor: "parcel", id: elsewhere, name: "x", event: { type: "x" } },
      attempts: 0,
    };
    await storage.commit({ partition: 11, due: [{ op: "schedule", row }] });
    await time.advance(700);
    expect(lags).toHaveLength(2);
    expect(lags[1]?.[1]).toBeLessThanOrEqual(500);
    expect(await storage.due.get(11, "foreign")).toBeUndefined();
  });

  test("[AC17] failing work is logged and retried with growing pauses, and delays no other work", async () => {
    const node = createActorNode(storage, time, [instant().provided]);
    const runs: Record<string, number[]> = { bad: [], good: [] };
    node.pump.register("bad", async () => {
      runs.bad?.push(time.now());
      throw new Error("always");
    });
    node.pump.register("good", async () => {
      runs.good?.push(time.now());
      return { kind: "done" };
    });
    const startMs = time.now();
    const rows = ["bad", "good"].map((name) => ({ id: name, kind: name, dueAtMs: startMs, payload: null, attempts: 0 }));
    await storage.commit({ partition: 3, due: rows.map((row) => ({ op: "schedule", row })) });
    node.pump.wake(3, startMs);
    await time.advance(8000);
    expect(runs.good).toHaveLength(1);
    expect(runs.bad?.map((atMs) => Math.round((atMs - startMs) / 1000))).toEqual([0, 1, 3, 7]);
    expect((await storage.due.stats()).rows).toBe(1);
  });
});
