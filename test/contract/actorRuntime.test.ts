/** Tests how an actor moves: refused events, concurrent events, timers, its commit, and its removal. */
import { describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import { CommitConflict } from "../../server/platform/actors/port.ts";
import { createActorNode } from "../support/actorNode.ts";
import { parcelRecord } from "../support/parcelMachine.ts";
import { everyStorage } from "../support/storages.ts";
import { createGate, createInstantKind, useParcels } from "./actorFixture.ts";

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => (reason instanceof AppError ? reason : undefined),
  );

describe.each(everyStorage())("actors on %s", (_name, openStorage) => {
  const rig = useParcels(openStorage);

  test("[AC4] a refused event changes nothing and returns the state and the allowed events", async () => {
    const { time, storage, newId } = rig;
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

  test("[AC9] two nodes that move one actor at once lose no event", async () => {
    const { time, storage, newId, read } = rig;
    const kinds = [createInstantKind(), createInstantKind()] as const;
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

  test("[AC3] a timer has no effect once the actor has moved, unless it was set to stay armed", async () => {
    const { time, storage, newId, read } = rig;
    const { kind, provided } = createInstantKind();
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
    const { time, storage, newId, read } = rig;
    const { kind, provided } = createInstantKind();
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
    const { time, storage, newId, read } = rig;
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
    const { time, storage, newId, read } = rig;
    const { kind, provided } = createInstantKind();
    const { actors } = createActorNode(storage, time, [provided]);
    const id = newId();
    const { value } = await actors.create(kind, id, {});
    const replacing = await storage.records.get(parcelRecord, id);
    const older = { ...value, machineVersion: 0 };
    await storage.commit({ partition: 7, records: [{ op: "put", type: parcelRecord, value: older, replacing: replacing ?? null }] });
    await expect(actors.send(kind, id, { type: "parcel.note" })).rejects.toThrow("must upgrade it");
    expect((await read(id))?.context.notes).toBe(0);
  });
});
