/**
 * What the rooms need from the world: a log of updates, a bus, a socket's far end, a clock. The server fits
 * its storage and hosts to these; tests fit a socket pair and a log in memory.
 */
import type { Author } from "../api/schema/article.ts";

/** One accepted update of a batch and who made it. */
export interface AuthoredUpdate {
  readonly author: Author;
  /** Yjs update (v1 encoding). */
  readonly update: Uint8Array;
}

/** A durable batch as it stands in the log: its position is the article's revision from then on. */
export interface LoggedBatch {
  readonly revision: number;
  /** Id of the node that wrote it: a node skips its own. */
  readonly writer: string;
  readonly updates: readonly AuthoredUpdate[];
}

export interface LoadedDocument {
  /** State of the document up to `revision` (a Yjs update), absent for an empty one. */
  readonly state?: Uint8Array;
  readonly revision: number;
  /** What came after the state, oldest first. */
  readonly tail: readonly LoggedBatch[];
}

/** A lease on the work that a change belongs to: what it is, the store knows. */
export interface WriteGuard {
  readonly id: string;
  readonly fence: number;
}

export type AppendResult =
  | { readonly kind: "appended"; readonly revision: number }
  /** The article is in the trash or gone. */
  | { readonly kind: "deleted" }
  /** The lease of the guard has moved on: nothing was written. */
  | { readonly kind: "fenced" }
  /** The log is longer than `after`: nothing was written. */
  | { readonly kind: "behind" };

/** Where the updates of documents become durable. A rejection means that nothing is known to be written. */
export interface UpdateLog {
  load(articleId: string): Promise<LoadedDocument>;
  /** Revision of the last durable batch, whichever node wrote it. */
  tail(articleId: string): Promise<number>;
  /**
   * Durable when it resolves. In the same commit the article is marked dirty, its checkpoint armed and a Live
   * link's synchronization armed. The updates of one call get one revision. `after`: only as the batch after this revision.
   */
  append(articleId: string, updates: readonly AuthoredUpdate[], guard?: WriteGuard, after?: number): Promise<AppendResult>;
  /** Batches after a revision, for rooms woken by the bus; `gap` when they are no longer kept. */
  readAfter(
    articleId: string,
    revision: number,
  ): Promise<{ readonly gap: false; readonly batches: readonly LoggedBatch[] } | { readonly gap: true }>;
  /** Keeps the whole state at a revision, so that the next load need not replay what came before. */
  saveState(articleId: string, revision: number, state: Uint8Array): Promise<void>;
}

/** Best-effort wake-ups and presence between nodes. */
export interface RoomBus {
  publish(articleId: string, message: Uint8Array): void;
  subscribe(articleId: string, listener: (message: Uint8Array) => void): () => void;
}

/** The far end of one socket. */
export interface Peer {
  send(bytes: Uint8Array): "sent" | "buffered" | "dropped";
  readonly bufferedBytes: number;
  close(code: number, reason: string): void;
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `run` after `delayMs`; returns the function that cancels it. Must not keep the process alive. */
  after(delayMs: number, run: () => void): () => void;
}

/** What a connection was told about its credential; asked again whenever access may have changed. */
export interface ConnectionIdentity {
  readonly author: Author;
  readonly displayName?: string;
  readonly mayWrite: boolean;
  /** Groups the sockets that `sockets.credential` counts: a session or key id. */
  readonly credentialId: string;
}

/** A token bucket: `count` tokens every `seconds`, at most `burst` saved up; `"off"` never refuses. */
export type RoomRate = { readonly count: number; readonly seconds: number; readonly burst: number } | "off";

/** The bounds of rooms and their sockets, named as in the API's limits. Sizes in bytes. */
export interface RoomLimits {
  readonly "article.file": number;
  readonly "document.bytes": number;
  readonly "document.clientIds": number;
  readonly "document.pending": number;
  readonly "update.clientIds": number;
  readonly "update.run": number;
  readonly "frame.bytes": number;
  readonly "frame.update": number;
  readonly "room.queue": number;
  readonly "socket.frames": RoomRate;
  readonly "socket.bytes": RoomRate;
  readonly "socket.syncAnswers": RoomRate;
  readonly "socket.syncBytes": RoomRate;
  readonly "socket.buffer": number;
  readonly "sockets.article": number;
  readonly "sockets.credential": number;
  readonly "awareness.state": number;
  readonly "awareness.states": number;
  readonly "awareness.rate": RoomRate;
}

/** What happens in rooms, for whoever counts it. */
export interface RoomMetrics {
  /** A batch became durable after `milliseconds`. */
  batchAppended(updates: number, milliseconds: number): void;
  framesRelayed(frames: number): void;
  updateRefused(code: string): void;
}
