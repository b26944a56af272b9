/**
 * Rooms is what the rest of the server knows of documents: join a socket or a participant, read, edit, and list presence.
 *
 * Each operation runs in the article's open room (`openRooms.ts`). Rooms connects a room with its connections, which do not
 * know each other's modules.
 */
import type * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import { AppError } from "../../api/schema/error.ts";
import { ActiveConnections } from "../connection/activeConnections.ts";
import { Connection, type ConnectionSetting } from "../connection/connection.ts";
import { inspectUpdate } from "../document/inspectUpdate.ts";
import type { ConnectionIdentity, JoinedChanges, Peer } from "../ports.ts";
import type { PresentMember } from "../presence/remotePresence.ts";
import { RoomEnded } from "./changes.ts";
import { createOpenRooms, type OpenRoomsOptions } from "./openRooms.ts";
import { openParticipant, type Participant, type ParticipantOptions } from "./participant.ts";
import type { Room } from "./room.ts";
import type { RoomWatch } from "./roomWatches.ts";
import { SocketQuota } from "./socketQuota.ts";

export type { Connection } from "../connection/connection.ts";
export { WriteFenced } from "./changes.ts";
export type { Participant } from "./participant.ts";

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
   * `clientId` is the idempotency key: if the document already has content under this id, nothing runs and `repeated` is true.
   * Each client id enlarges the document permanently, so pass `undefined` where repetitions need not be detected.
   * With `isExact` the change is stored only on the revision that `change` saw. If another node wrote in between, `change`
   * runs again on the newer document. `joined` is stored in the same commit as the change: if it is refused, the promise
   * rejects with its error and the change is reverted.
   */
  edit<T>(
    articleId: string,
    author: Author,
    clientId: number | undefined,
    change: (document: Y.Doc, revision: number) => T,
    isExact?: boolean,
    joined?: JoinedChanges,
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
  /**
   * Like `presence`, but first opens the document and waits a moment for the other nodes, if there can be any. A node that
   * does not answer in time is missing.
   */
  gatherPresence(articleId: string): Promise<readonly PresentMember[]>;
  /**
   * Calls the watch when the document changes, or its members do, on any node. If other nodes can write the store, the
   * document is open meanwhile. Returns the function that ends the watch.
   */
  watch(articleId: string, watch: RoomWatch): () => void;
  stats(): { readonly rooms: number; readonly connections: number };
  /** Closes all sockets with 1012 and resolves when every queued change is durable. */
  drain(): Promise<void>;
}

export function createRooms(options: OpenRoomsOptions): Rooms {
  const { clock, limits } = options;
  const rooms = createOpenRooms(options);
  const quota = new SocketQuota(limits);
  let isDraining = false;

  const setting: ConnectionSetting = {
    clock,
    limits,
    active: new ActiveConnections(clock),
    onClosed: ({ credentialId }) => quota.remove(credentialId),
  };

  function join(room: Room, peer: Peer, identity: ConnectionIdentity, extensions: boolean): Connection {
    quota.add(identity.credentialId);
    const connection = new Connection({ room, peer, identity, extensions, setting });
    room.join(connection);
    return connection;
  }

  function presence(articleId: string): readonly PresentMember[] {
    return rooms.get(articleId)?.presence.list() ?? [];
  }

  return {
    connect(articleId, peer, identity, { extensions }) {
      return rooms.within(articleId, (room) => {
        if (isDraining) throw new AppError("unavailable", "The server is about to stop. Connect again.");
        quota.check(room.members.size, identity.credentialId);
        return join(room, peer, identity, extensions);
      });
    },

    read(articleId, view) {
      return rooms.within(articleId, async (room) => {
        await room.refresh();
        return new Promise((resolve, reject) => {
          const run = () => {
            try {
              resolve(room.read(view));
            } catch (error) {
              reject(error);
            }
          };
          room.whenSettled(run, () => reject(new RoomEnded()));
        });
      });
    },

    edit<T>(
      articleId: string,
      author: Author,
      clientId: number | undefined,
      change: (document: Y.Doc, revision: number) => T,
      isExact = false,
      joined?: JoinedChanges,
    ) {
      return rooms.within(articleId, async (room) => {
        // Another node may have stored this edit already and stopped before it could announce it.
        if (clientId !== undefined) await room.refresh();
        return new Promise<Edited<T>>((resolve, reject) => {
          const completion = { resolve: (edited: Edited<unknown>) => resolve(edited as Edited<T>), reject };
          room.edit({ author, clientId, once: true, guard: undefined, isExact, joined, change, completion });
        });
      });
    },

    async applyUpdate(articleId, author, update) {
      if (update.length > limits["frame.update"]) {
        throw new AppError("payload_too_large", `An update may have at most ${limits["frame.update"]} bytes.`);
      }
      const inspected = inspectUpdate(update, limits);
      if (inspected.kind === "refused") throw new AppError("content_not_accepted", inspected.detail);
      const request = { update: inspected.update, isSyncStep2: false, afterRefusal: false, owesSyncStep2: false };
      return rooms.within(
        articleId,
        (room) =>
          new Promise((resolve, reject) => {
            const completion = { resolve: (revision: number) => resolve({ revision }), reject };
            const abandon = () => reject(new RoomEnded());
            const submit = (waits: number): void => {
              const verdict = room.submit({ ...request, waits }, author, completion);
              if (verdict.kind === "known") room.whenSettled(completion.resolve, abandon);
              else if (verdict.kind === "wait") room.whenSettled(() => submit(waits + 1), abandon);
              else if (verdict.kind === "refused") reject(new AppError(verdict.refusal.code, verdict.refusal.detail));
              else if (verdict.kind === "overflow") reject(new AppError("unavailable", "Too many changes of this document are waiting."));
            };
            submit(0);
          }),
      );
    },

    participate(articleId, participant) {
      const attach = (room: Room, peer: Peer, identity: ConnectionIdentity) => join(room, peer, identity, false);
      return openParticipant({ clock, attach, within: (task) => rooms.within(articleId, task) }, participant);
    },

    presence,

    async gatherPresence(articleId) {
      await rooms.hear(articleId);
      return presence(articleId);
    },

    watch: (articleId, watch) => rooms.watch(articleId, watch),

    stats: () => ({ rooms: rooms.size, connections: quota.connections }),

    async drain() {
      isDraining = true;
      const draining = rooms.list().map(async (opening) => {
        const room = await opening;
        for (const member of [...room.members]) member.close(1012, "the server is restarting");
        await new Promise<void>((resolve) => room.whenDurable(resolve));
      });
      // Failed openings are ignored, because a document that cannot be opened has no queued changes.
      await Promise.allSettled(draining);
    },
  };
}
