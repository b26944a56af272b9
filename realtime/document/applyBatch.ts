/**
 * applyBatch applies a durable batch and returns the updates to send: one for all other readers, and for each sender of
 * the batch one without the sender's own changes.
 *
 * Yjs does the merging: the content integrated in one transaction is emitted as one compact update. An update that waits
 * for missing content is not relayed until that content arrives; both are then sent together. Readers never receive
 * pending content, because a reader that integrated it at a different moment than the server would get a different text.
 */
import * as Y from "yjs";
import { mergeUpdates } from "./mergeUpdates.ts";

export interface BatchedUpdate<Sender> {
  /** The connection that sent the update. Absent for an HTTP request or another node: then no reader here has the update. */
  readonly sender?: Sender | undefined;
  readonly update: Uint8Array;
  /** The update may build on content that is still missing. */
  readonly mayBePending: boolean;
}

/** What one batch made visible, as updates to send. */
export interface AppliedBatch<Sender> {
  /** Update for all other readers. Absent when nothing became visible. */
  readonly toOthers: Uint8Array | undefined;
  /**
   * Updates for the senders of the batch that do not get `toOthers`. Undefined when nothing has to be sent to that sender.
   */
  readonly toSenders: ReadonlyMap<Sender, Uint8Array | undefined>;
}

/**
 * A separate update for each sender needs one transaction per sender, and the cost of a transaction grows with the number
 * of client ids in the document. With more senders than this, all get the whole batch. Yjs ignores known content.
 */
const maxSeparateSenders = 4;

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

/** Applies a batch. `editUpdate` is the update of a server edit in the same batch, which the document contains already. */
export function applyBatch<Sender>(
  document: Y.Doc,
  batch: readonly BatchedUpdate<Sender>[],
  editUpdate?: Uint8Array,
): AppliedBatch<Sender> {
  const senders = new Set(batch.map(({ sender }) => sender));
  if (senders.size > maxSeparateSenders || hasPending(document) || batch.some(({ mayBePending }) => mayBePending)) {
    return sameForAll(merge([editUpdate, integrate(document, batch)]));
  }
  let hasWaited = false;
  const applied = separate(batch, editUpdate, (own) => {
    const update = integrateOwn(document, own);
    hasWaited ||= hasPending(document);
    return update;
  });
  // An update has waited for the update of a later sender. Now the document has integrated the whole batch, but the updates
  // that were captured for each sender lack the text that waited (RT107).
  return hasWaited ? sameForAll(merge([editUpdate, ...batch.map(({ update }) => update)])) : applied;
}

/**
 * Returns what to send of a batch whose updates build only on known content, without a document. Senders get the whole batch
 * if there are too many of them.
 */
export function relayBatch<Sender>(batch: readonly BatchedUpdate<Sender>[]): AppliedBatch<Sender> {
  // The common case, one update from a typing user, is sent as it is.
  const [only] = batch;
  if (only !== undefined && batch.length === 1) return fromOne(only.sender, only.update);
  const mergeAll = (updates: readonly BatchedUpdate<Sender>[]) => merge(updates.map(({ update }) => update));
  const senders = new Set(batch.map(({ sender }) => sender));
  if (senders.size > maxSeparateSenders) return sameForAll(mergeAll(batch));
  return separate(batch, undefined, mergeAll);
}

/** Makes one update from the updates of each sender (`combine`), and leaves each sender's own one out of what it gets. */
function separate<Sender>(
  batch: readonly BatchedUpdate<Sender>[],
  editUpdate: Uint8Array | undefined,
  combine: (own: readonly BatchedUpdate<Sender>[]) => Uint8Array | undefined,
): AppliedBatch<Sender> {
  const senders = new Set(batch.map(({ sender }) => sender));
  if (senders.size === 1 && editUpdate === undefined) return fromOne(batch[0]?.sender, combine(batch));
  const parts = [...senders].map((sender) => ({ sender, update: combine(batch.filter((update) => update.sender === sender)) }));
  const toOthers = merge([editUpdate, ...parts.map(({ update }) => update)]);
  const toSenders = new Map<Sender, Uint8Array | undefined>();
  for (const { sender } of parts) {
    if (sender === undefined) continue;
    const others = parts.filter((part) => part.sender !== sender).map(({ update }) => update);
    toSenders.set(sender, merge([editUpdate, ...others]));
  }
  return { toOthers, toSenders };
}

function fromOne<Sender>(sender: Sender | undefined, update: Uint8Array | undefined): AppliedBatch<Sender> {
  return { toOthers: update, toSenders: sender === undefined ? new Map() : new Map([[sender, undefined]]) };
}

/**
 * Sends the same update to everybody. It is used when updates are or were pending: the update of one sender can then release
 * pending content of another one, so the senders' own changes cannot be separated.
 */
function sameForAll<Sender>(update: Uint8Array | undefined): AppliedBatch<Sender> {
  return { toOthers: update, toSenders: new Map() };
}

export function hasPending({ store }: Y.Doc): boolean {
  return store.pendingStructs !== null || store.pendingDs !== null;
}

/** Integrates the updates of one sender. */
function integrateOwn(document: Y.Doc, updates: readonly BatchedUpdate<unknown>[]): Uint8Array | undefined {
  const [only] = updates;
  if (only === undefined || updates.length > 1) return integrate(document, updates);
  // The common case, one update from a typing user, is relayed unchanged, without a second encoding.
  Y.applyUpdate(document, only.update);
  return only.update;
}

function integrate(document: Y.Doc, updates: readonly BatchedUpdate<unknown>[]): Uint8Array | undefined {
  return capture(document, () => {
    for (const { update } of updates) Y.applyUpdate(document, update);
  });
}

function merge(updates: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const present = updates.filter((update) => update !== undefined);
  return present.length === 0 ? undefined : mergeUpdates(present);
}

/**
 * Sorts a batch by sender, in order of each sender's first update. The updates of one sender keep their order. An update can
 * move before the update of another sender that it builds on.
 */
export function groupBySender<One extends BatchedUpdate<unknown>>(batch: readonly One[]): readonly One[] {
  if (batch.length < 2) return batch;
  const groups = new Map<unknown, One[]>();
  for (const update of batch) {
    const group = groups.get(update.sender);
    if (group === undefined) groups.set(update.sender, [update]);
    else group.push(update);
  }
  return groups.size === 1 ? batch : [...groups.values()].flat();
}
