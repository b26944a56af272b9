/**
 * Applies a durable batch and says what each reader is told: one update for everybody, and for those who wrote
 * part of the batch one without their own.
 *
 * Yjs itself merges: what one transaction integrated comes out as one compact update. Updates that wait for
 * something missing come out later, with what they waited for: no reader keeps what waits, since a reader in whom
 * it came free at another moment than here would end with another text.
 */
import * as Y from "yjs";

export interface Said<Speaker> {
  /** Absent for what came by request or from another node: then nobody has it yet. */
  readonly speaker?: Speaker | undefined;
  readonly update: Uint8Array;
  /** It may build on what is not there yet. */
  readonly isEarly: boolean;
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
  if (speakers.size > maxSeparateSpeakers || isWaiting(document) || batch.some((said) => said.isEarly)) {
    return toEverybody(speakers, merge([already, integrate(document, batch)]));
  }
  const pieces = [...speakers].map((speaker) => {
    const own = speakers.size === 1 ? batch : batch.filter((said) => said.speaker === speaker);
    return { speaker, update: applyPiece(document, own) };
  });
  const toOthers = merge([already, ...pieces.map((piece) => piece.update)]);
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

function applyPiece(document: Y.Doc, piece: readonly Said<unknown>[]): Uint8Array | undefined {
  const [only] = piece;
  if (only === undefined || piece.length > 1) return integrate(document, piece);
  // The common case at human pace: what came in is what goes out, without encoding it anew.
  Y.applyUpdate(document, only.update);
  return only.update;
}

function integrate(document: Y.Doc, updates: readonly Said<unknown>[]): Uint8Array | undefined {
  return capture(document, () => {
    for (const { update } of updates) Y.applyUpdate(document, update);
  });
}

function merge(updates: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const present = updates.filter((update) => update !== undefined);
  return present.length > 1 ? Y.mergeUpdates(present) : present[0];
}

/** What each speaker said stands together, in the order in which it was said. */
export function groupBySpeaker<One extends Said<unknown>>(batch: readonly One[]): readonly One[] {
  const groups = new Map<unknown, One[]>();
  for (const said of batch) {
    const group = groups.get(said.speaker);
    if (group === undefined) groups.set(said.speaker, [said]);
    else group.push(said);
  }
  return groups.size === 1 ? batch : [...groups.values()].flat();
}
