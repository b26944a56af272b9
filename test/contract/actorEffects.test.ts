/** Tests effects of actors: their order, the limits of their number, their attempts, and the due pump that runs them. */
import { describe, expect, test } from "vitest";
import { createIds } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { StorageFullError } from "../../server/platform/storage/port.ts";
import { createActorNode, testLeaseMs } from "../support/actorNode.ts";
import { createParcelKind } from "../support/parcelMachine.ts";
import { everyStorage } from "../support/storages.ts";
import { createGate, createInstantKind, partSent, useParcels } from "./actorFixture.ts";

describe.each(everyStorage())("effects on %s", (_name, openStorage) => {
  const rig = useParcels(openStorage);

  test("[AC5] effects of one actor run in order, and actors run in parallel up to the limits", async () => {
    const { time, storage, newId, read } = rig;
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
    const { time, storage, newId } = rig;
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

  test("[AC8] failed attempts pause as their kind says, and at the end the actor receives an event", async () => {
    const { time, storage, newId, read } = rig;
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
    const { time, storage, newId, read } = rig;
    const attempts: number[] = [];
    const { kind, provided } = createParcelKind(async ({ attempt, params }) => {
      attempts.push(attempt);
      return attempt < 4 ? { kind: "retry", atMs: time.now() + 60_000, reason: "not yet" } : partSent({ params });
    });
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: [] });
    await time.until(async () => (await read(id))?.state === "sent");
    expect(attempts).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });

  test("[AC2] while the store refuses writes, a finished effect waits with its result and never reruns", async () => {
    const { time, storage, newId, read } = rig;
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
    const { time, storage, newId, read } = rig;
    const lags: [string, number][] = [];
    const { kind, provided } = createInstantKind();
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
    const { time, storage } = rig;
    const node = createActorNode(storage, time, [createInstantKind().provided]);
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
