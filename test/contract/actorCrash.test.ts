/** Tests a runtime that dies at every write of a short story, on every storage. A new runtime finishes the story. */
import { describe, expect, test } from "vitest";
import { AppError } from "../../api/schema/error.ts";
import type { ActorRuntime } from "../../server/platform/actors/port.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import { createActorNode } from "../support/actorNode.ts";
import { createDyingStorage } from "../support/dyingStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { createParcelKind, type ParcelKind, parcelRecord } from "../support/parcelMachine.ts";
import { everyStorage } from "../support/storages.ts";

/** Acts like a client that repeats its requests until it gets an answer. */
async function tellStory(actors: ActorRuntime, kind: ParcelKind, id: string): Promise<void> {
  const unless = (code: string) => (reason: unknown) => {
    if (!(reason instanceof AppError && reason.code === code)) throw reason;
  };
  await actors.create(kind, id, {}).catch(unless("already_exists"));
  await actors.send(kind, id, { type: "parcel.send", parts: ["first", "second"] }).catch(unless("invalid_transition"));
}

describe.each(everyStorage())("%s", (_name, open) => {
  test("[AC1][AC2][AC3] a kill at any write: effects run at least once, results and timers count once", async () => {
    const time = createManualTime();
    const { storage, close } = await open(time);
    const ids = createIds(time);
    let deaths = 0;
    for (const when of ["before", "after"] as const) {
      for (let dieAt = 1; ; dieAt += 1) {
        const id = ids.next("art", dieAt % 64);
        const carried: string[] = [];
        const { kind, provided } = createParcelKind(async (effect) => {
          const { part } = effect.params as { part: string };
          carried.push(`${part} ${effect.id}`);
          return { kind: "event", event: { type: "part.sent", part } };
        });
        const dying = createDyingStorage(storage, dieAt, when);
        const first = createActorNode(dying, time, [provided]);
        const told = tellStory(first.actors, kind, id);
        const record = () => storage.records.get(parcelRecord, id);
        const isOver = async () => (await record())?.value.context.rang === 1 && (await record())?.value.state === "sent";
        await time.until(async () => dying.dead || (await isOver()), { stepMs: 500, withinMs: 60_000 });
        if (!dying.dead) {
          await told;
          await first.pump.drain(AbortSignal.abort());
          break;
        }
        deaths += 1;
        const second = createActorNode(storage, time, [provided]);
        await tellStory(second.actors, kind, id);
        await time.until(isOver, { stepMs: 500, withinMs: 120_000 });
        await time.advance(60_000);
        const { value } = (await record()) ?? {};
        expect(value?.context.results, `died ${when} write ${dieAt}`).toEqual({ first: 1, second: 1 });
        expect(value?.context.order).toEqual(["first", "second"]);
        expect(value?.context.rang).toBe(1);
        expect(value?.pending).toEqual([]);
        expect(value?.timers).toEqual({});
        // Every attempt sends the same key, so the receiver can recognise a repeat.
        expect(new Set(carried)).toEqual(new Set([`first ${id}:2:0`, `second ${id}:2:1`]));
        expect((await storage.due.stats()).rows).toBe(0);
        await second.pump.drain(AbortSignal.abort());
      }
    }
    // There are writes for the creation, the sending, two results, the claim of the timer and its event.
    expect(deaths).toBeGreaterThanOrEqual(12);
    await close();
  });
});
