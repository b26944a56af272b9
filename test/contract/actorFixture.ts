/** Gives the tests of actors a store with a manual clock, parcels to move, and effects that a test ends. */
import { afterEach, beforeEach } from "vitest";
import type { EffectOutcome, RunEffect } from "../../server/platform/actors/port.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import type { Partition, Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { createParcelKind, type ParcelContext, type ParcelEvent, parcelRecord } from "../support/parcelMachine.ts";
import type { OpenStorage } from "../support/storages.ts";

export type Outcome = EffectOutcome<ParcelContext, ParcelEvent>;
export type Effect = Parameters<RunEffect<ParcelContext, ParcelEvent>>[0];

/** The partition of all parcels. */
export const partition: Partition = 7;

const partOf = ({ params }: Pick<Effect, "params">) => (params as { part: string }).part;
export const partSent = (effect: Pick<Effect, "params">): Outcome => ({
  kind: "event",
  event: { type: "part.sent", part: partOf(effect) },
});

/** A kind whose effects end at once. */
export const createInstantKind = () => createParcelKind(async (effect) => partSent(effect));

/** Creates an effect that the test ends. */
export function createGate() {
  const open: (Effect & { readonly part: string; end(outcome?: Outcome): void; fail(reason: unknown): void })[] = [];
  const run: RunEffect<ParcelContext, ParcelEvent> = (effect) =>
    new Promise((resolve, reject) => {
      open.push({ ...effect, part: partOf(effect), end: (outcome = partSent(effect)) => resolve(outcome), fail: reject });
    });
  return { open, run, kind: (options: Parameters<typeof createParcelKind>[1] = {}) => createParcelKind(run, options) };
}

/** Call it in `describe`. The getters have the values of the running test. */
export function useParcels(openStorage: OpenStorage) {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
  });
  afterEach(() => close());

  return {
    get time() {
      return time;
    },
    get storage() {
      return storage;
    },
    newId: () => createIds(time).next("art", partition),
    read: async (id: string) => (await storage.records.get(parcelRecord, id))?.value,
  };
}
