/**
 * Applies a durable batch and says what each reader is told: one update for everybody, and for those who wrote
 * part of the batch one without their own.
 *
 * Yjs itself merges: what one transaction integrated comes out as one compact update. Updates that wait for
 * something missing come out later, with what they waited for.
 */
import * as Y from "yjs";

export interface Said<Speaker> {
  /** Absent for what came by request or from another node: then nobody has it yet. */
  readonly speaker?: Speaker | undefined;
  readonly update: Uint8Array;
}

export interface Relay<Speaker> {
  /** Absent when nothing became visible. */
  readonly toOthers: Uint8Array | undefined;
  /** What each speaker of the batch is told instead; absent: nothing. */
  readonly toSpeakers: ReadonlyMap<Speaker, Uint8Array | undefined>;
}

/**
 * A transaction costs more the more client ids a document has, and each speaker needs one of its own to be told
 * only what others said. With more speakers than this they are told everything, which Yjs ignores where known.
 */
const maxSeparateSpeakers = 4;

/** What the document integrates while `run` runs, as one update; absent when nothing became visible. */
export function capture(document: Y.Doc, run: () => void): Uint8Array | undefined {
  let captured: Uint8Array | undefined;
  const listener = (update: Uint8Array) => {
    captured = update;
  };
  document.on("update", listener);
  try {
    document.transact(run);
  } finally {
    document.off("update", listener);
  }
  return captured;
}

/** `already` was applied to the document before, by a server edit of the same batch. */
export function applyBatch<Speaker>(document: Y.Doc, batch: readonly Said<Speaker>[], already?: Uint8Array): Relay<Speaker> {
  const speakers = new Set(batch.map((said) => said.speaker));
  if (speakers.size > maxSeparateSpeakers || isWaiting(document)) {
    return toEverybody(speakers, merge([already, applyAll(document, batch)]));
  }
  let hasWaited = false;
  const pieces = [...speakers].map((speaker) => {
    const own = speakers.size === 1 ? batch : batch.filter((said) => said.speaker === speaker);
    const update = applyAll(document, own);
    hasWaited ||= isWaiting(document);
    return { speaker, update };
  });
  const toOthers = merge([already, ...pieces.map((piece) => piece.update)]);
  if (hasWaited) return toEverybody(speakers, toOthers);
  const toSpeakers = new Map<Speaker, Uint8Array | undefined>();
  for (const { speaker } of pieces) {
    if (speaker === undefined) continue;
    const others = pieces.filter((piece) => piece.speaker !== speaker).map((piece) => piece.update);
    toSpeakers.set(speaker, merge([already, ...others]));
  }
  return { toOthers, toSpeakers };
}

/** What waits may be set free by somebody else's update, and then comes out with that: nobody's own can be told apart. */
function toEverybody<Speaker>(speakers: ReadonlySet<Speaker | undefined>, update: Uint8Array | undefined): Relay<Speaker> {
  const toSpeakers = new Map<Speaker, Uint8Array | undefined>();
  for (const speaker of speakers) if (speaker !== undefined) toSpeakers.set(speaker, update);
  return { toOthers: update, toSpeakers };
}

/** Something was applied that stands beside what is not there yet. */
function isWaiting({ store }: Y.Doc): boolean {
  return store.pendingStructs !== null || store.pendingDs !== null;
}

function applyAll(document: Y.Doc, batch: readonly Said<unknown>[]): Uint8Array | undefined {
  const [only] = batch;
  if (only !== undefined && batch.length === 1 && !isWaiting(document)) {
    // The common case at human pace: what came in is what goes out, without encoding it anew.
    Y.applyUpdate(document, only.update);
    return only.update;
  }
  return capture(document, () => {
    for (const { update } of batch) Y.applyUpdate(document, update);
  });
}

function merge(updates: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const present = updates.filter((update) => update !== undefined);
  return present.length > 1 ? Y.mergeUpdates(present) : present[0];
}
