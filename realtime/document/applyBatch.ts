/**
 * Relay applies a durable batch and returns the updates to send: one for all readers, and for each speaker (writer) of the
 * batch one without the speaker's own changes.
 *
 * Yjs does the merging: the content integrated in one transaction is emitted as one compact update. An update that waits
 * for missing content is not relayed until that content arrives; both are then sent together. Readers never receive
 * pending content, because a reader that integrated it at a different moment than the server would get a different text.
 */
import * as Y from "yjs";

export interface QueuedUpdate<Speaker> {
  /** The connection that sent the update. Absent for an HTTP request or another node: then no reader here has the update. */
  readonly speaker?: Speaker | undefined;
  readonly update: Uint8Array;
  /** The update may build on content that is still missing. */
  readonly isEarly: boolean;
}

export interface Relay<Speaker> {
  /** Update for all other readers. Absent when nothing became visible. */
  readonly toOthers: Uint8Array | undefined;
  /** Update for each speaker of the batch. Undefined when nothing has to be sent to that speaker. */
  readonly toSpeakers: ReadonlyMap<Speaker, Uint8Array | undefined>;
}

/**
 * A separate update for each speaker needs one transaction per speaker, and the cost of a transaction grows with the
 * number of client ids in the document. With more speakers than this, all get the whole batch. Yjs ignores known content.
 */
const maxSeparateSpeakers = 4;

/** Runs `run` in one transaction and returns what the document integrated as one update; undefined when nothing changed. */
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

/** Applies a batch to the document. `already` is the update of a server edit in the same batch, which is applied already. */
export function applyBatch<Speaker>(document: Y.Doc, batch: readonly QueuedUpdate<Speaker>[], already?: Uint8Array): Relay<Speaker> {
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

/**
 * Sends the same update to everybody. It is used when updates are pending: the update of one speaker can then release
 * pending content of another one, so the speakers' own changes cannot be separated.
 */
function toEverybody<Speaker>(speakers: ReadonlySet<Speaker | undefined>, update: Uint8Array | undefined): Relay<Speaker> {
  const toSpeakers = new Map<Speaker, Uint8Array | undefined>();
  for (const speaker of speakers) if (speaker !== undefined) toSpeakers.set(speaker, update);
  return { toOthers: update, toSpeakers };
}

/** True when the document holds pending updates, which wait for missing content. */
function isWaiting({ store }: Y.Doc): boolean {
  return store.pendingStructs !== null || store.pendingDs !== null;
}

function applyPiece(document: Y.Doc, piece: readonly QueuedUpdate<unknown>[]): Uint8Array | undefined {
  const [only] = piece;
  if (only === undefined || piece.length > 1) return integrate(document, piece);
  // The common case, one update from a typing user, is relayed unchanged, without a second encoding.
  Y.applyUpdate(document, only.update);
  return only.update;
}

function integrate(document: Y.Doc, updates: readonly QueuedUpdate<unknown>[]): Uint8Array | undefined {
  return capture(document, () => {
    for (const { update } of updates) Y.applyUpdate(document, update);
  });
}

function merge(updates: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const present = updates.filter((update) => update !== undefined);
  return present.length > 1 ? Y.mergeUpdates(present) : present[0];
}

/** Sorts a batch by speaker, in order of each speaker's first update. The updates of one speaker keep their order. */
export function groupBySpeaker<One extends QueuedUpdate<unknown>>(batch: readonly One[]): readonly One[] {
  const groups = new Map<unknown, One[]>();
  for (const said of batch) {
    const group = groups.get(said.speaker);
    if (group === undefined) groups.set(said.speaker, [said]);
    else group.push(said);
  }
  return groups.size === 1 ? batch : [...groups.values()].flat();
}
