/**
 * ports declares the interfaces through which the rooms use the outside world: update log, bus, socket peer and clock.
 *
 * The server implements them with its storage and hosts. The tests implement them with a socket pair and a log in memory.
 */
import type { Author } from "../api/schema/article.ts";

/** One accepted update of a batch, and its author. */
export interface AuthoredUpdate {
  readonly author: Author;
  /** Yjs update (v1 encoding). */
  readonly update: Uint8Array;
}

/** A durable batch of the log. Its position in the log is the article's revision after the batch. */
export interface LoggedBatch {
  readonly revision: number;
  /** Id of the node that wrote the batch. */
  readonly writer: string;
  readonly updates: readonly AuthoredUpdate[];
}

export interface LoadedDocument {
  /** Snapshot of the document (a Yjs update). Absent when no snapshot is stored. */
  readonly state?: Uint8Array;
  /** State vector of `state`. Absent if `state` has pending updates, or if its state vector is too large to be stored. */
  readonly stateVector?: Uint8Array;
  readonly revision: number;
  /** Batches after the snapshot, up to `revision`, oldest first. */
  readonly tail: readonly LoggedBatch[];
}

/** Lease that guards a change. The rooms pass it on; only the store can interpret the id and check the fence. */
export interface WriteGuard {
  readonly id: string;
  readonly fence: number;
}

/** Changes of the caller that are stored in the same commit as its edit. The rooms pass them on; only the log can commit them. */
export type JoinedChanges = object;

export type AppendResult =
  | { readonly kind: "appended"; readonly revision: number }
  /** The article is in the trash or does not exist any more. */
  | { readonly kind: "deleted" }
  /** The guard's fence is out of date: nothing was written. */
  | { readonly kind: "fenced" }
  /** The log is longer than revision `after`: nothing was written. */
  | { readonly kind: "behind" }
  /** The joined changes are not possible any more: nothing was written. */
  | { readonly kind: "refused"; readonly error: Error };

/** Stores the updates of documents durably. After a rejection it is unknown whether the batch was written. */
export interface UpdateLog {
  /** False if this node makes every append. Then it knows each log's newest revision, and no other node hears the bus. */
  readonly isShared: boolean;
  load(articleId: string): Promise<LoadedDocument>;
  /** Revision of the last durable batch, whichever node wrote it. */
  tail(articleId: string): Promise<number>;
  /**
   * Appends one batch, which is durable when the promise resolves. The same commit marks the article dirty and schedules
   * its checkpoint and the synchronization of a Live link. All updates of one call get one revision. `after`: write the
   * batch only if it directly follows this revision; otherwise the result is `behind`. `joined`: changes for the same commit.
   */
  append(
    articleId: string,
    updates: readonly AuthoredUpdate[],
    guard?: WriteGuard,
    after?: number,
    joined?: JoinedChanges,
  ): Promise<AppendResult>;
  /** Reads the batches after a revision. `gap` is true when some of them are no longer stored. */
  readAfter(
    articleId: string,
    revision: number,
  ): Promise<{ readonly gap: false; readonly batches: readonly LoggedBatch[] } | { readonly gap: true }>;
  /**
   * Saves a snapshot at a revision, so that the next load does not replay the batches before it. `stateVector` must be absent
   * if the snapshot has pending updates.
   */
  saveState(articleId: string, revision: number, state: Uint8Array, stateVector?: Uint8Array): Promise<void>;
}

/** Best-effort wake-ups and presence between nodes. */
export interface RoomBus {
  publish(articleId: string, message: Uint8Array): void;
  subscribe(articleId: string, listener: (message: Uint8Array) => void): () => void;
}

/** The sending side of one client's socket. */
export interface Peer {
  send(bytes: Uint8Array): "sent" | "buffered" | "dropped";
  readonly bufferedBytes: number;
  /** From now on the socket gets what is published on the topic, in order with the frames of `send`. */
  subscribe(topic: string): void;
  /** What is published from now on is not sent to the socket. */
  unsubscribe(topic: string): void;
  close(code: number, reason: string): void;
}

/** Sends one frame to many sockets of this node at the cost of one call. */
export interface FrameBroadcast {
  /**
   * Sends the frame to every peer that subscribes to the topic. No peer is skipped, however far it is behind: the caller
   * must close a peer whose `bufferedBytes` become too many.
   */
  publish(topic: string, frame: Uint8Array): void;
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /**
   * Calls `run` after `delayMs`, or up to half a second later if the delay has 2 s or more, so that delays can share timers.
   * Returns the function that cancels it. Must not keep the process alive.
   */
  after(delayMs: number, run: () => void): () => void;
}

/** Result of the access check of one connection. It is renewed whenever access may have changed. */
export interface ConnectionIdentity {
  readonly author: Author;
  readonly displayName?: string;
  readonly mayWrite: boolean;
  /** Session or key id. The limit `sockets.credential` counts the sockets of one such id. */
  readonly credentialId: string;
}

/** A token bucket that gains `count` tokens every `seconds` and holds at most `burst`. `"off"` means no limit. */
export type RoomRate = { readonly count: number; readonly seconds: number; readonly burst: number } | "off";

/** Limits of rooms and their sockets. The names are those of the API's limits. Sizes are in bytes. */
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
  readonly "awareness.socket": number;
  readonly "awareness.room": number;
  readonly "awareness.rate": RoomRate;
}

/** Receives events of the rooms as metrics. */
export interface RoomMetrics {
  /** A batch of `updates` updates became durable. The append took `milliseconds`. */
  batchAppended(updates: number, milliseconds: number): void;
  framesRelayed(frames: number): void;
  updateRefused(code: string): void;
}
