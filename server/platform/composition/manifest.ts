/**
 * A manifest lists what a domain or a part of the edge adds to the process, besides the ports that others use.
 *
 * `installManifests` merges all manifests once, before the due pump starts. A name that two manifests use is an error
 * at the start of the server, and so is a record type that the store does not know.
 */
import type { DuePump, DueWorker } from "../actors/duePort.ts";
import type { ActorRuntime, ProvidedKind } from "../actors/port.ts";
import { createHousekeeping, housekeepingKinds } from "../storage/housekeeping.ts";
import type { Storage } from "../storage/port.ts";
import type { RecordTypes } from "../storage/recordType.ts";

export interface Manifest {
  /** Name of the domain or part, for error messages. */
  readonly name: string;
  readonly actorKinds?: readonly ProvidedKind[];
  /** Kind of due row → its worker. */
  readonly workers?: Readonly<Record<string, DueWorker>>;
  /** Ends threads and connections. Called after the due pump has drained. */
  close?(): Promise<void>;
}

export interface InstallOptions {
  readonly actors: Pick<ActorRuntime, "register">;
  readonly pump: Pick<DuePump, "register">;
  /** The record types with which the store was opened. */
  readonly recordTypes: RecordTypes;
}

/**
 * Throws if two manifests claim one name. The returned `close` closes all of them and waits for each, even if one fails.
 * It rejects with one AggregateError that has the error of each failed manifest.
 */
export function installManifests(
  manifests: readonly Manifest[],
  { actors, pump, recordTypes }: InstallOptions,
): { close(): Promise<void> } {
  const owners = new Map<string, string>();
  function claim(owner: string, what: string): void {
    const other = owners.get(what);
    if (other !== undefined) throw new Error(`the manifests ${other} and ${owner} both have the ${what}`);
    owners.set(what, owner);
  }
  for (const { name, actorKinds = [], workers = {} } of manifests) {
    claim(name, `name ${name}`);
    for (const { kind } of actorKinds) {
      claim(name, `actor kind ${kind.name}`);
      if (!recordTypes.has(kind.record.name)) {
        throw new Error(`the actor kind ${kind.name} of ${name} uses the record type ${kind.record.name}, which the store does not know`);
      }
    }
    for (const kind of Object.keys(workers)) claim(name, `worker of due rows ${kind}`);
  }
  for (const { actorKinds = [], workers = {} } of manifests) {
    actors.register(actorKinds);
    for (const [kind, worker] of Object.entries(workers)) pump.register(kind, worker);
  }
  return {
    async close() {
      const closed = await Promise.allSettled(manifests.map(async (manifest) => manifest.close?.()));
      const failed = closed.flatMap((result, at) =>
        result.status === "rejected" ? [{ name: manifests[at]?.name, reason: result.reason }] : [],
      );
      if (failed.length === 0) return;
      const names = failed.map(({ name }) => name).join(", ");
      throw new AggregateError(
        failed.map(({ reason }) => reason),
        `parts of the server could not be closed: ${names}`,
      );
    },
  };
}

/** The manifest of the store itself: its own due rows. */
export function createHousekeepingManifest(storage: Storage, recordTypes: RecordTypes): Manifest {
  const housekeeping = createHousekeeping(storage, recordTypes);
  return { name: "storage", workers: Object.fromEntries(housekeepingKinds.map((kind) => [kind, housekeeping])) };
}
