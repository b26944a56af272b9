/** One node of a test: a runtime and its pump on a storage that several nodes can share, with a manual clock. */
import pino from "pino";
import { createDuePump, type DueObserver } from "../../server/platform/actors/due.ts";
import type { DuePump } from "../../server/platform/actors/duePort.ts";
import type { ActorKind, ActorRuntime } from "../../server/platform/actors/port.ts";
import { createActorRuntime } from "../../server/platform/actors/runtime.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "./manualTime.ts";

export const testLeaseMs = 5000;

export interface ActorNode {
  readonly actors: ActorRuntime;
  readonly pump: DuePump;
}

export function createActorNode(
  storage: Storage,
  time: ManualTime,
  // biome-ignore lint/suspicious/noExplicitAny: a list of kinds mixes contexts and events
  kinds: readonly ActorKind<any, any>[],
  observe?: DueObserver,
): ActorNode {
  const log = pino({ level: "silent" });
  const pump = createDuePump({ storage, log, leaseMs: testLeaseMs, after: time.after, ...(observe === undefined ? {} : { observe }) });
  const actors = createActorRuntime({ storage, pump, log, leaseMs: testLeaseMs, after: time.after });
  actors.register(kinds);
  pump.start();
  return { actors, pump };
}
