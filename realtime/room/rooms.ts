/**
 * Rooms manages the open documents of this node: it opens a room at first use, shares it, and closes it when idle.
 *
 * Concurrent callers share one load per document. A room that ended is replaced at the next use, and operations that had
 * not begun in it are retried in the new room. Other nodes announce changes over the bus; the changes are read from the log.
 */
import type { Logger } from "pino";
import type * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Connection } from "../connection/connection.ts";
import { inspectUpdate } from "../document/inspectUpdate.ts";
import type { Clock, ConnectionIdentity, Peer, RoomBus, RoomLimits, RoomMetrics, UpdateLog } from "../ports.ts";
import type { PresentMember } from "../presence/remotePresence.ts";
import { openParticipant, type Participant, type ParticipantOptions } from "./participant.ts";
import { Room, RoomEnded } from "./room.ts";
import { type RoomMessage, readRoomMessage, writeRoomMessage } from "./roomMessage.ts";

export type { Connection } from "../connection/connection.ts";
export type { Participant } from "./participant.ts";
export { WriteFenced } from "./room.ts";

export interface Edited<T> {
  readonly revision: number;
  readonly changed: boolean;
  readonly repeated: boolean;
  /** What `change` returned; absent when it did not run. */
  readonly value?: T;
}

export interface Rooms {
  /**
   * Joins a socket to the article's room. Rejects with `rate_limited` when the article or the credential has too many
   * sockets, and with `unavailable` while draining.
   */
  connect(articleId: string, peer: Peer, identity: ConnectionIdentity, options: { readonly extensions: boolean }): Promise<Connection>;
  /**
   * Calls `view` with the document. The document shows only durable state, including everything that was durable on any
   * node when `read` was called. Opens the room if needed.
   */
  read<T>(articleId: string, view: (document: Y.Doc, revision: number) => T): Promise<T>;
  /**
   * Runs `change` in one transaction under `clientId`. When the promise resolves, the change is durable and relayed.
   * `clientId` is the idempotency key: if the document already has content of it, nothing runs and `repeated` is true.
   * Each client id enlarges the document permanently, so pass `undefined` where repetitions need not be detected.
   * With `isExact` the change is stored only on the revision that `change` saw. If another node wrote in between, `change`
   * runs again on the newer document.
   */
  edit<T>(
    articleId: string,
    author: Author,
    clientId: number | undefined,
    change: (document: Y.Doc, revision: number) => T,
    isExact?: boolean,
  ): Promise<Edited<T>>;
  /**
   * Applies a client's Yjs update, validated like an update from a socket. Rejects with `content_not_accepted`,
   * `content_too_large` or `payload_too_large`, and with `unavailable` when too many changes wait.
   */
  applyUpdate(articleId: string, author: Author, update: Uint8Array): Promise<{ readonly revision: number }>;
  /** Joins a participant of the server itself (such as an agent) to the document, until it leaves. */
  participate(articleId: string, options: ParticipantOptions): Promise<Participant>;
  /** Lists the members of a document on all nodes. Empty when the document is not open on this node. */
  presence(articleId: string): readonly PresentMember[];
  stats(): { readonly rooms: number; readonly connections: number };
  /** Closes all sockets with 1012 and resolves when every queued change is durable. */
  drain(): Promise<void>;
}

export interface RoomsOptions {
  readonly updateLog: UpdateLog;
  readonly bus: RoomBus;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly nodeId: string;
  readonly metrics?: RoomMetrics;
  readonly log?: Logger;
  /** How long an idle document stays open, in milliseconds. Default 30 000. */
  readonly idleMs?: number;
  /** Poll interval of the log in milliseconds, default 1000. A lost bus message delays other nodes by up to one interval. */
  readonly pollMs?: number;
}

interface Entry {
  readonly opening: Promise<Room>;
  room: Room | undefined;
  cancelUnload: (() => void) | undefined;
  readonly unsubscribe: () => void;
}

/** Tries per operation. Rooms usually end because the store fails, so more tries would not help. */
const maxTries = 3;

export function createRooms(options: RoomsOptions): Rooms {
  const { updateLog, bus, clock, limits, nodeId, metrics, log, idleMs = 30_000, pollMs = 1000 } = options;
  const entries = new Map<string, Entry>();
  const socketsOfCredential = new Map<string, number>();
  let connections = 0;
  let isDraining = false;
  let isPolling = false;

  const tell = (articleId: string, message: RoomMessage) => bus.publish(articleId, writeRoomMessage(nodeId, message));

  function hear(entry: Entry, bytes: Uint8Array): void {
    const heard = readRoomMessage(bytes, nodeId);
    if (heard === undefined || entry.room === undefined) return;
    const { room } = entry;
    if (heard.message.kind === "appended") room.heard(heard.message.revision);
    else if (heard.message.kind === "hello") room.presence.tellAll();
    else room.presence.hearNode(heard.nodeId, heard.message.news);
  }

  /** Reads the log's newest revision for each room with connections, because the bus may have lost an announcement. */
  function poll(): void {
    isPolling = false;
    for (const { room } of entries.values()) {
      // If the store does not answer, the next poll tries again.
      if (room !== undefined && room.connections.size > 0) room.freshen().catch(() => {});
    }
    schedulePoll();
  }

  function schedulePoll(): void {
    if (entries.size === 0 || isPolling) return;
    isPolling = true;
    clock.after(pollMs, poll);
  }

  function open(articleId: string): Promise<Room> {
    const found = entries.get(articleId);
    if (found !== undefined) return found.opening;
    const entry: Entry = {
      room: undefined,
      cancelUnload: undefined,
      opening: updateLog.load(articleId).then((loaded) => {
        const room = new Room({
          articleId,
          loaded,
          updateLog,
          clock,
          limits,
          metrics,
          log,
          onAppended: (revision) => tell(articleId, { kind: "appended", revision }),
          onPresence: (news) => tell(articleId, { kind: "presence", news }),
          onActivity: () => noteActivity(entry),
          onConnectionClosed: (connection) => forgetSocket(connection),
          onEnded: () => close(articleId, entry),
        });
        entry.room = room;
        tell(articleId, { kind: "hello" });
        noteActivity(entry);
        return room;
      }),
      unsubscribe: bus.subscribe(articleId, (bytes) => hear(entry, bytes)),
    };
    entries.set(articleId, entry);
    schedulePoll();
    entry.opening.catch(() => close(articleId, entry));
    return entry.opening;
  }

  function close(articleId: string, entry: Entry): void {
    entry.cancelUnload?.();
    entry.unsubscribe();
    if (entries.get(articleId) === entry) entries.delete(articleId);
  }

  function noteActivity(entry: Entry): void {
    entry.cancelUnload?.();
    entry.cancelUnload = entry.room?.isIdle && entry.room.isOpen ? clock.after(idleMs, () => void unload(entry)) : undefined;
  }

  /** Saves a snapshot if needed and closes the room. The room is checked again after saving: it may be in use by then. */
  async function unload(entry: Entry): Promise<void> {
    const { room } = entry;
    if (room === undefined || !room.isIdle) return;
    if (room.isUnsaved) await room.save();
    // Saving counts as activity. A room that is not idle here is unloaded by a later call, one idle time after its last use.
    if (room.isIdle) room.end(1001, "nobody is here");
  }

  /**
   * Runs `task` with the article's room. It starts synchronously after the check that the room is open. If the room ends
   * before the operation begins (`RoomEnded`), the task is retried in a new room.
   */
  async function within<T>(articleId: string, task: (room: Room) => Promise<T> | T): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const room = await open(articleId);
      try {
        if (!room.isOpen) throw new RoomEnded();
        return await task(room);
      } catch (error) {
        if (!(error instanceof RoomEnded)) throw error;
        if (tries === maxTries) throw new AppError("unavailable", "The document cannot be opened now. Try again later.");
      }
    }
  }

  function countSocket(room: Room, { credentialId }: ConnectionIdentity): void {
    if (isDraining) throw new AppError("unavailable", "The server is about to stop. Connect again.");
    const ofCredential = socketsOfCredential.get(credentialId) ?? 0;
    if (room.connections.size >= limits["sockets.article"]) throw new AppError("rate_limited", "The article has too many open sockets.");
    if (ofCredential >= limits["sockets.credential"]) throw new AppError("rate_limited", "The credential has too many open sockets.");
    countIn({ credentialId });
  }

  function countIn({ credentialId }: Pick<ConnectionIdentity, "credentialId">): void {
    socketsOfCredential.set(credentialId, (socketsOfCredential.get(credentialId) ?? 0) + 1);
    connections += 1;
  }

  function forgetSocket({ credentialId }: Connection): void {
    const left = (socketsOfCredential.get(credentialId) ?? 1) - 1;
    if (left > 0) socketsOfCredential.set(credentialId, left);
    else socketsOfCredential.delete(credentialId);
    connections -= 1;
  }

  return {
    connect(articleId, peer, identity, { extensions }) {
      return within(articleId, (room) => {
        countSocket(room, identity);
        return room.join(peer, identity, extensions);
      });
    },

    read(articleId, view) {
      return within(articleId, async (room) => {
        await room.freshen();
        return new Promise((resolve, reject) => {
          const look = () => {
            try {
              resolve(room.view(view));
            } catch (error) {
              reject(error);
            }
          };
          room.whenSettled(look, () => reject(new RoomEnded()));
        });
      });
    },

    edit<T>(
      articleId: string,
      author: Author,
      clientId: number | undefined,
      change: (document: Y.Doc, revision: number) => T,
      isExact = false,
    ) {
      return within(articleId, async (room) => {
        // Another node may have stored this edit already and stopped before it could announce it.
        if (clientId !== undefined) await room.freshen();
        return new Promise<Edited<T>>((resolve, reject) => {
          room.edit({
            author,
            clientId,
            once: true,
            guard: undefined,
            isExact,
            change,
            settle: { resolve: (edited) => resolve(edited as Edited<T>), reject },
          });
        });
      });
    },

    async applyUpdate(articleId, author, update) {
      if (update.length > limits["frame.update"]) {
        throw new AppError("payload_too_large", `An update may have at most ${limits["frame.update"]} bytes.`);
      }
      const inspected = inspectUpdate(update, limits);
      if (inspected.kind === "refused") throw new AppError("content_not_accepted", inspected.detail);
      const question = { update: inspected.update, isAnswer: false, afterRefusal: false, owesAnswer: false };
      return within(
        articleId,
        (room) =>
          new Promise((resolve, reject) => {
            const settle = { resolve: (revision: number) => resolve({ revision }), reject };
            const ended = () => reject(new RoomEnded());
            const offer = (waited: number): void => {
              const verdict = room.submit({ ...question, waited }, author, settle);
              if (verdict.kind === "known") room.whenSettled(settle.resolve, ended);
              else if (verdict.kind === "wait") room.whenSettled(() => offer(waited + 1), ended);
              else if (verdict.kind === "refused") reject(new AppError(verdict.refusal.code, verdict.refusal.detail));
              else if (verdict.kind === "overflow") reject(new AppError("unavailable", "Too many changes of this document are waiting."));
            };
            offer(0);
          }),
      );
    },

    participate(articleId, participant) {
      const seat = (room: Room, peer: Peer, identity: ConnectionIdentity) => {
        countIn(identity);
        return room.join(peer, identity, false);
      };
      return openParticipant({ clock, attach: seat, within: (task) => within(articleId, task) }, participant);
    },

    presence(articleId) {
      return entries.get(articleId)?.room?.presence.list() ?? [];
    },

    stats() {
      return { rooms: entries.size, connections };
    },

    async drain() {
      isDraining = true;
      const opening = [...entries.values()].map(async ({ opening: opened }) => {
        const room = await opened;
        for (const connection of [...room.connections]) connection.close(1012, "the server is restarting");
        await new Promise<void>((resolve) => room.whenSettled(() => resolve(), resolve));
      });
      // Failed openings are ignored, because a document that cannot be opened has no queued changes.
      await Promise.allSettled(opening);
    },
  };
}
