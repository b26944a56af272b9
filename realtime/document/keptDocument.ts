/**
 * KeptDocument holds a document as bytes: its stored state and the updates after it. It exists until the first use that needs
 * the text builds a Y.Doc.
 *
 * A new reader gets the bytes as they are. Plain updates are added to them. Everything else builds the Y.Doc.
 * Only a complete document can be kept: an update that waits for missing content must not reach a reader (RT8), and only
 * Yjs can separate it.
 */
import * as Y from "yjs";
import type { LoadedDocument, RoomLimits } from "../ports.ts";
import { buildDocument } from "./buildDocument.ts";
import { inspectUpdate } from "./inspectUpdate.ts";
import { mergeUpdates } from "./mergeUpdates.ts";
import { PackedUpdates } from "./packedUpdates.ts";

/** What a reader lacks. `state`: bytes of the stored state, which a reader without any content gets before `update`. */
export interface SyncAnswer {
  readonly state?: Uint8Array | undefined;
  readonly update: Uint8Array;
}

/** Above this number of updates, building the Y.Doc costs less than merging and keeping the updates. */
const maxUpdates = 2000;

const emptyUpdate = Uint8Array.of(0, 0);

export class KeptDocument {
  /** Clock of each client id. */
  readonly clocks: Map<number, number>;
  private readonly state: Uint8Array | undefined;
  private readonly updates: PackedUpdates;

  private constructor(clocks: Map<number, number>, state: Uint8Array | undefined, updates: PackedUpdates) {
    this.clocks = clocks;
    this.state = state;
    this.updates = updates;
  }

  /** Keeps a loaded document. Returns undefined when it may have pending updates. */
  static from({ state, stateVector, tail }: LoadedDocument, limits: RoomLimits): KeptDocument | undefined {
    if (state !== undefined && stateVector === undefined) return undefined;
    const clocks = stateVector === undefined ? new Map<number, number>() : Y.decodeStateVector(stateVector);
    const updates = new PackedUpdates();
    for (const batch of tail) {
      for (const { update } of batch.updates) {
        if (updates.count >= maxUpdates || !advance(clocks, update, limits)) return undefined;
        updates.add(update);
      }
    }
    return new KeptDocument(clocks, state, updates);
  }

  /** True when the Y.Doc should be built before another update is added. */
  get isFull(): boolean {
    return this.updates.count >= maxUpdates;
  }

  /** Adds a copy of an update that builds only on known content. The caller advances `clocks`. */
  add(update: Uint8Array): void {
    this.updates.add(update);
  }

  /** The whole document, for a reader without any content. */
  encode(): SyncAnswer {
    const { state, updates } = this;
    if (updates.count === 0) return { update: state ?? emptyUpdate };
    return { state, update: mergeUpdates(updates.list()) };
  }

  build(): Y.Doc {
    return buildDocument(this.state, this.updates.list());
  }
}

/**
 * Adds the content of an update to the clocks. Returns false when the update builds on missing content, or when it repeats
 * clocks, as the updates of two nodes may. A merge could choose another text for such clocks than a document has (RT108).
 */
function advance(clocks: Map<number, number>, bytes: Uint8Array, limits: RoomLimits): boolean {
  const inspected = inspectUpdate(bytes, limits);
  if (inspected.kind === "refused") return false;
  const { sections, buildsOn, deletes } = inspected.update;
  for (const { clientId, from, to, skips } of sections) {
    const known = clocks.get(clientId) ?? 0;
    if (from !== known || skips.length > 0) return false;
    clocks.set(clientId, to);
  }
  for (const [clientId, clock] of buildsOn) if (clock >= (clocks.get(clientId) ?? 0)) return false;
  return deletes.every(({ clientId, to }) => to <= (clocks.get(clientId) ?? 0));
}
