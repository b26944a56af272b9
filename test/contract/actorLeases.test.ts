/** Tests which node runs an effect: what a lease allows, who takes over from a dead node, and how a node drains. */
import { describe, expect, test } from "vitest";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createActorNode, testLeaseMs } from "../support/actorNode.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { everyStorage } from "../support/storages.ts";
import { createGate, createInstantKind, useParcels } from "./actorFixture.ts";

describe.each(everyStorage())("leases of effects on %s", (_name, openStorage) => {
  const rig = useParcels(openStorage);

  test("[AC6] an effect that lost its lease is aborted, and its later result is refused", async () => {
    const { time, storage, newId, read } = rig;
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
    const { time, storage, newId, read } = rig;
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
      const { time, storage, newId, read } = rig;
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
    const { time, storage, newId, read } = rig;
    const dying = createDyingStorage(storage, 3, "before");
    const dead = createGate();
    const { kind: deadKind, provided: deadProvided } = dead.kind();
    const one = createActorNode(dying, time, [deadProvided]);
    const { provided } = createInstantKind();
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

  test("[AC10] a draining node waits for its running effects, then releases the rest unchanged", async () => {
    const { time, storage, newId, read } = rig;
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
    const { time, storage, newId, read } = rig;
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
});
