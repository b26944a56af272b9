/**
 * Creates the parts of the platform that the domains share: ids, directory, clock, due pump and actor runtime.
 *
 * The server and the tests compose their parts here, so a test runs the same wiring with its own store and clock.
 */
import type { Logger } from "pino";
import type { ActorObserver } from "../actors/actorRows.ts";
import { type After, after as realAfter } from "../actors/after.ts";
import { createDuePump, type DueObserver } from "../actors/due.ts";
import type { DuePump } from "../actors/duePort.ts";
import type { ActorRuntime } from "../actors/port.ts";
import { createActorRuntime } from "../actors/runtime.ts";
import { createDirectory, type Directory } from "../storage/directory.ts";
import { createIds, type IdSource } from "../storage/ids.ts";
import type { Storage } from "../storage/port.ts";

export interface PartsOptions {
  readonly storage: Storage;
  readonly log: Logger;
  /** Time for which a due row or a reservation is held, in milliseconds. */
  readonly leaseMs: number;
  readonly after?: After;
  readonly pollMs?: number;
  /** Longest time between two polls for due rows, in milliseconds. */
  readonly idlePollMs?: number;
  readonly observe?: Partial<DueObserver & ActorObserver>;
}

export interface Parts {
  readonly storage: Storage;
  readonly log: Logger;
  readonly leaseMs: number;
  /** Store time and timers. */
  readonly clock: { now(): number; readonly after: After };
  readonly ids: IdSource;
  readonly directory: Directory;
  readonly pump: DuePump;
  readonly wake: DuePump["wake"];
  readonly actors: ActorRuntime;
}

export function createParts({ storage, log, leaseMs, after = realAfter, pollMs, idlePollMs, observe = {} }: PartsOptions): Parts {
  const { lag, attempt } = observe;
  const shared = { storage, log, leaseMs, after };
  const pump = createDuePump({
    ...shared,
    ...(pollMs === undefined ? {} : { pollMs }),
    ...(idlePollMs === undefined ? {} : { idlePollMs }),
    ...(lag === undefined ? {} : { observe: { lag } }),
  });
  const actors = createActorRuntime({ ...shared, pump, ...(attempt === undefined ? {} : { observe: { attempt } }) });
  return {
    storage,
    log,
    leaseMs,
    clock: { now: storage.now, after },
    ids: createIds(storage),
    directory: createDirectory(storage),
    pump,
    wake: pump.wake,
    actors,
  };
}
