/** One node of a test: a runtime and its pump on a storage that several nodes can share, with a manual clock. */
import type { DueObserver } from "../../server/platform/actors/due.ts";
import type { ProvidedKind } from "../../server/platform/actors/port.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { composeParts, defaultLeaseMs } from "./composeParts.ts";
import type { ManualTime } from "./manualTime.ts";

export const testLeaseMs = defaultLeaseMs;

export function createActorNode(storage: Storage, time: ManualTime, kinds: readonly ProvidedKind[], observe: Partial<DueObserver> = {}) {
  const { actors, pump } = composeParts(storage, { after: time.after, observe });
  actors.register(kinds);
  pump.start();
  return { actors, pump };
}

export type ActorNode = ReturnType<typeof createActorNode>;
