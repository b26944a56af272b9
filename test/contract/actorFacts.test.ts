/**
 * Tests facts in the commit of their move, writes of an effect under its lease, and actors that move while an effect
 * runs.
 */
import { describe, expect, test } from "vitest";
import type { ActorRecord, RecordedFact, UnitOfWork } from "../../server/platform/actors/port.ts";
import { CommitConflict } from "../../server/platform/actors/port.ts";
import type { Batch, Storage } from "../../server/platform/storage/port.ts";
import { createActorNode } from "../support/actorNode.ts";
import { createParcelKind, journalOf, type ParcelContext, parcelRecord, toJournal } from "../support/parcelMachine.ts";
import { everyStorage } from "../support/storages.ts";
import { createGate, type Effect, partition, partSent, useParcels } from "./actorFixture.ts";
import { text } from "./storageTypes.ts";

describe.each(everyStorage())("%s", (_name, openStorage) => {
  const rig = useParcels(openStorage);
  const toLines = (batch: Omit<Batch, "partition">) =>
    (batch.logs ?? []).flatMap((write) => (write.op === "append" ? write.entries.map(text) : []));
  async function journal(id: string): Promise<readonly string[]> {
    const found = await rig.storage.log.read({ partition, log: journalOf(id), after: 0, limit: 100 });
    return found.gap ? [] : found.entries.map(({ bytes }) => text(bytes));
  }
  /** Returns the same storage and records the calls of `commit`. */
  function withCommits() {
    const batches: Batch[] = [];
    const commit: Storage["commit"] = (batch) => {
      batches.push(batch);
      return rig.storage.commit(batch);
    };
    return { batches, storage: { ...rig.storage, commit } };
  }
  /** Creates a node that does not notice a lost row and claims no other row. */
  const toDeaf = (beneath: Storage): Storage => ({
    ...beneath,
    due: { ...beneath.due, claim: async () => [], renew: async () => true },
  });
  /** Makes the row of the guard due at once, without a new fence, so that the next look claims it. */
  async function hurry({ guard: { id, fence } }: Effect): Promise<void> {
    const due = [{ op: "postpone", id, fence, dueAtMs: rig.time.now(), attempts: 1 }] as const;
    expect(await rig.storage.commit({ partition, due })).toMatchObject({ ok: true });
  }

  test("[AC18] the facts of a move are in its commit, in order, whatever the source of the event", async () => {
    const { time, storage, newId, read } = rig;
    const seen = withCommits();
    const told: string[] = [];
    const stood: string[] = [];
    const { kind, provided } = createParcelKind(async (effect) => partSent(effect), {
      facts: {
        journal: (unit, fact) => {
          told.push(fact.id);
          unit.log(toJournal(fact));
        },
      },
      committed: ({ id, state, step }) => stood.push(`${id} ${step} ${state}`),
    });
    const { actors } = createActorNode(seen.storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"], ringAtMs: time.now() + 2000 });
    await time.until(async () => (await read(id))?.context.rang === 1);
    const lines = ["packed 0", "sending 0", "parts a b 0", "sent a 0", "sent b 0", "rang 0"];
    expect(await journal(id)).toEqual(lines);
    expect(told).toEqual(["1:fact:0", "2:fact:0", "2:fact:1", "3:fact:0", "4:fact:0", "5:fact:0"].map((place) => `${id}:${place}`));
    const moves = seen.batches.filter(({ records = [] }) => records.length > 0);
    expect(moves.map(toLines)).toEqual([["packed 0"], ["sending 0", "parts a b 0"], ["sent a 0"], ["sent b 0"], ["rang 0"]]);
    expect(stood).toEqual(["1 packed", "2 sending", "3 sending", "4 sent", "5 sent"].map((place) => `${id} ${place}`));

    const other = newId();
    const committing = (lines: readonly string[], committed: number) => async (batch: Batch) => {
      expect(toLines(batch)).toEqual(lines);
      const result = await storage.commit(batch);
      expect(stood).toHaveLength(committed);
      return result;
    };
    const packing = actors.openUnit(partition);
    packing.create(kind, other, {});
    expect(await packing.commit(committing(["packed 0"], 5))).toMatchObject({ ok: true });
    const noting = actors.openUnit(partition);
    await noting.send(kind, other, { type: "parcel.note" });
    expect(await noting.commit(committing(["noted 1"], 6))).toMatchObject({ ok: true });
    expect(stood.slice(5)).toEqual([`${other} 1 packed`, `${other} 2 packed`]);
    await actors.send(kind, other, { type: "parcel.discard" });
    expect(await read(other)).toBeUndefined();
    expect(await journal(other)).toEqual(["packed 0", "noted 1", "discarded 1"]);
  });

  test("[AC18] a move that is decided again writes its facts once, and a refused move writes none", async () => {
    const { time, storage, newId, read } = rig;
    const told: string[] = [];
    const { kind, provided } = createParcelKind(async (effect) => partSent(effect), {
      facts: {
        journal: (unit, fact) => {
          told.push(`${fact.id} ${fact.next.context.notes}`);
          unit.log(toJournal(fact));
        },
      },
    });
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    let isFirst = true;
    async function meanwhile() {
      const current = await storage.records.get(parcelRecord, id);
      if (isFirst && current !== undefined) {
        isFirst = false;
        const value: ActorRecord<ParcelContext> = { ...current.value, context: { ...current.value.context, notes: 10 } };
        await storage.commit({ partition, records: [{ op: "put", type: parcelRecord, value, replacing: current }] });
      }
    }
    await actors.send(kind, id, { type: "parcel.note" }, { gather: meanwhile, commit: (batch) => storage.commit(batch) });
    expect(told.slice(1)).toEqual([`${id}:2:fact:0 1`, `${id}:2:fact:0 11`]);
    expect(await journal(id)).toEqual(["packed 0", "noted 11"]);
    const missing = { kind: "due", id: "missing", fence: 1 } as const;
    const refused = actors.send(kind, id, { type: "parcel.note" }, { gather: (unit) => unit.require(missing) });
    await expect(refused).rejects.toBeInstanceOf(CommitConflict);
    expect(await journal(id)).toEqual(["packed 0", "noted 11"]);
    expect((await read(id))?.context.notes).toBe(11);
  });

  test("[AC18] a fact may add rows and conditions; a failed condition stops the move, a timer retries", async () => {
    const { time, storage, newId, read } = rig;
    const journal = (unit: UnitOfWork, { id, params, nowMs }: RecordedFact<ParcelContext>) => {
      if ((params as { what: string }).what !== "rang") return;
      unit.due({ op: "schedule", row: { id: `rang ${id}`, kind: "test", dueAtMs: nowMs + 1e9, payload: null, attempts: 0 } });
      unit.require({ kind: "due", id: "allowed", fence: 1 });
    };
    const { kind, provided } = createParcelKind(async (effect) => partSent(effect), { facts: { journal } });
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"], ringAtMs: time.now() + 2000 });
    await time.advance(10_000);
    expect(await read(id)).toMatchObject({ state: "sent", context: { rang: 0 } });
    const row = { id: "allowed", kind: "test", dueAtMs: time.now() + 1e9, payload: null, attempts: 0 };
    await storage.commit({ partition, due: [{ op: "schedule", row }] });
    await time.until(async () => (await read(id))?.context.rang === 1, { withinMs: 20_000 });
    expect(await storage.due.get(partition, `rang ${id}:5:fact:0`)).toBeDefined();
    // The condition and the write of the fact remain.
    expect(await storage.due.stats()).toMatchObject({ rows: 2 });
  });

  test("[AC19] a commit that an effect makes under its guard is kept while the effect holds its row", async () => {
    const { time, storage, newId, read } = rig;
    const gate = createGate();
    const { kind, provided } = createParcelKind(gate.run);
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.advance(0);
    const [effect] = gate.open;
    if (effect === undefined) throw new Error("no effect was run");
    expect(effect.guard).toEqual({ kind: "due", id: `${id}:2:0`, fence: 1 });
    const gather = (unit: UnitOfWork) => unit.require(effect.guard);
    // Renewing the lease is not a claim.
    await time.advance(20_000);
    expect((await actors.send(kind, id, { type: "parcel.note" }, { gather })).value.context.notes).toBe(1);
    expect(await journal(id)).toContain("noted 1");
    effect.end();
    await time.until(() => gate.open.length === 2);
    await expect(actors.send(kind, id, { type: "parcel.note" }, { gather })).rejects.toMatchObject({
      name: "CommitConflict",
      conflict: { kind: "due", id: effect.id },
    });
    expect((await read(id))?.context).toMatchObject({ notes: 1, results: { a: 1 } });
  });

  test("[AC19] an effect whose row was claimed by another worker can commit nothing under its guard", async () => {
    const { time, storage, newId, read } = rig;
    const seen = withCommits();
    const [first, second] = [createGate(), createGate()];
    const { kind: firstKind, provided: firstProvided } = createParcelKind(first.run);
    const one = createActorNode(toDeaf(seen.storage), time, [firstProvided]);
    createActorNode(storage, time, [createParcelKind(second.run).provided]);
    const id = newId();
    await one.actors.create(firstKind, id, {});
    await one.actors.send(firstKind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.advance(0);
    const [effect] = first.open;
    if (effect === undefined) throw new Error("no effect was run");
    await hurry(effect);
    await time.until(() => second.open.length === 1);
    expect(effect.signal.aborted).toBe(false);
    const before = seen.batches.length;
    const gather = (unit: UnitOfWork) => unit.require(effect.guard);
    const refused = await one.actors.send(firstKind, id, { type: "parcel.note" }, { gather }).catch((reason: unknown) => reason);
    expect(refused).toBeInstanceOf(CommitConflict);
    expect(refused).toMatchObject({ conflict: { kind: "due", id: effect.id } });
    effect.fail(refused);
    await time.advance(0);
    // There is one try, and the row of another owner gets no failed attempt.
    expect(seen.batches.slice(before)).toEqual([expect.objectContaining({ require: [effect.guard] })]);
    expect(second.open[0]?.guard.fence).toBe(2);
    second.open[0]?.end();
    await time.until(() => second.open.length === 2);
    expect((await read(id))?.context).toMatchObject({ notes: 0, results: { a: 1 } });
    expect(await journal(id)).toEqual(["packed 0", "sending 0", "parts a b 0", "sent a 0"]);
  });

  test("[AC20] an effect may move its own actor while it runs, and its result is still accepted", async () => {
    const { time, storage, newId, read } = rig;
    const { kind, provided } = createParcelKind(async (effect) => {
      for (let at = 0; at < 3; at += 1)
        await node.actors.send(kind, effect.actorId, { type: "parcel.note" }, { gather: (unit) => unit.require(effect.guard) });
      return partSent(effect);
    });
    const node = createActorNode(storage, time, [provided]);
    const id = newId();
    await node.actors.create(kind, id, {});
    await node.actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"] });
    await time.until(async () => (await read(id))?.state === "sent");
    expect(await read(id)).toMatchObject({ pending: [], context: { notes: 6, results: { a: 1, b: 1 }, order: ["a", "b"] } });
    const noted = (from: number) => [1, 2, 3].map((at) => `noted ${from + at}`);
    expect(await journal(id)).toEqual(["packed 0", "sending 0", "parts a b 0", ...noted(0), "sent a 3", ...noted(3), "sent b 6"]);
  });

  test("[AC20] a result that the actor no longer accepts is dropped with its facts; the next effect runs", async () => {
    const { time, storage, newId, read } = rig;
    const gate = createGate();
    const { kind, provided } = createParcelKind(gate.run);
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    await actors.create(kind, id, {});
    await actors.send(kind, id, { type: "parcel.send", parts: ["a", "b"], ringAtMs: time.now() + 1e9 });
    await actors.send(kind, id, { type: "parcel.recall" });
    expect(gate.open.map(({ params }) => params)).toEqual([{ part: "a" }]);
    expect(gate.open[0]?.signal.aborted).toBe(false);
    gate.open[0]?.end();
    await time.until(() => gate.open.length === 2);
    expect(gate.open[1]?.params).toEqual({ part: "b" });
    gate.open[1]?.end();
    await time.until(async () => (await read(id))?.pending.length === 0);
    expect(await read(id)).toMatchObject({ state: "recalled", step: 3, lastEffectId: `${id}:2:1`, context: { results: {}, order: [] } });
    expect(await journal(id)).toEqual(["packed 0", "sending 0", "parts a b 0"]);
    // Only the row of the bell remains.
    expect(await storage.due.stats()).toMatchObject({ rows: 1 });
    expect(gate.open).toHaveLength(2);
  });
});
