/**
 * Participant lets the server itself write in a document, for example an agent that writes for a while under one client id.
 *
 * It joins the room as a connection whose peer discards every frame. Thus it keeps the room open, and all members see its
 * name and cursor. Its edits may be guarded by a lease: when the lease's fence is out of date, no further edit is stored
 * (`WriteFenced`). A revert deletes only text of the given client ids, never text of anyone else.
 */
import * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import type { Connection } from "../connection/connection.ts";
import type { Clock, ConnectionIdentity, Peer, WriteGuard } from "../ports.ts";
import type { EditResult } from "./changes.ts";
import type { Room } from "./room.ts";

export interface ParticipantOptions {
  readonly author: Author;
  /** Name shown next to the participant's cursor. */
  readonly displayName: string;
  /** Yjs client id that only this participant uses. */
  readonly clientId: number;
  readonly guard?: WriteGuard;
}

export interface Participant {
  /**
   * Runs `change` in one transaction under this participant's client id. When the promise resolves, the change is durable
   * and relayed. It rejects with `WriteFenced` when the guard's fence is out of date.
   */
  edit<T>(
    change: (document: Y.Doc, revision: number) => T,
  ): Promise<{ readonly revision: number; readonly changed: boolean; readonly value: T }>;
  /** Deletes all text that these client ids wrote and that still exists. Text of other client ids stays. */
  revert(clientIds: readonly number[]): Promise<{ readonly revision: number }>;
  /** Leaves the document and removes the participant's presence. Later edits throw. */
  leave(): void;
}

/** The part of the rooms that a participant uses. */
export interface ParticipantHost {
  readonly clock: Clock;
  /** Runs `task` in the document's open room. If the room ended before the task began, the task runs in a new room. */
  within<T>(task: (room: Room) => Promise<T> | T): Promise<T>;
  /** Joins the room, without checking the limits on the number of sockets. */
  attach(room: Room, peer: Peer, identity: ConnectionIdentity): Connection;
}

/** Clients remove a presence state that is not renewed for 30 s. */
const renewalMs = 15_000;

const encoder = new TextEncoder();

export async function openParticipant(host: ParticipantHost, options: ParticipantOptions): Promise<Participant> {
  const participant = new ServerParticipant(host, options);
  await host.within((room) => participant.attach(room));
  return participant;
}

class ServerParticipant implements Participant {
  readonly #host: ParticipantHost;
  readonly #options: ParticipantOptions;
  #joined: { readonly room: Room; readonly connection: Connection } | undefined;
  #clock = 0;
  #cursor: object | undefined;
  #cancelRenewal: (() => void) | undefined;
  #hasLeft = false;

  constructor(host: ParticipantHost, options: ParticipantOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Joins `room`, unless the participant is in it already. The previous room has closed its connection when it ended. */
  attach(room: Room): void {
    if (this.#hasLeft || this.#joined?.room === room) return;
    const { author, displayName } = this.#options;
    const identity: ConnectionIdentity = { author, displayName, mayWrite: true, credentialId: `participant/${this.#options.clientId}` };
    const connection = this.#host.attach(room, nullPeer, identity);
    this.#joined = { room, connection };
    this.#show();
  }

  edit<T>(change: (document: Y.Doc, revision: number) => T) {
    const { author, clientId, guard } = this.#options;
    return this.#run<T>(
      (document, revision) => {
        const value = change(document, revision);
        this.#noteCursor(document);
        return value;
      },
      { author, clientId, guard },
    );
  }

  async revert(clientIds: readonly number[]) {
    const { author, clientId, guard } = this.#options;
    // Another node may have stored text of these client ids and stopped before it could announce it.
    await this.#host.within((room) => room.refresh());
    const { revision } = await this.#run(
      (document) => {
        document.transact((transaction) => {
          for (const id of clientIds) {
            for (const struct of document.store.clients.get(id) ?? []) {
              if (struct instanceof Y.Item && !struct.deleted) struct.delete(transaction);
            }
          }
          // Y.Text caches index positions (search markers) and updates them only for deletions by index. With stale markers
          // the next insertion would go to a wrong place, into another author's words.
          for (const type of transaction.changed.keys()) {
            if (type._searchMarker !== null) type._searchMarker.length = 0;
          }
        });
      },
      { author, clientId, guard },
    );
    return { revision };
  }

  leave(): void {
    this.#hasLeft = true;
    this.#cancelRenewal?.();
    this.#joined?.connection.close(1000, "done");
    this.#joined = undefined;
  }

  async #run<T>(
    change: (document: Y.Doc, revision: number) => T,
    as: { readonly author: Author; readonly clientId: number; readonly guard: WriteGuard | undefined },
  ): Promise<{ readonly revision: number; readonly changed: boolean; readonly value: T }> {
    if (this.#hasLeft) throw new Error("a participant writes after it left");
    const { revision, changed, value } = await this.#host.within(
      (room) =>
        new Promise<EditResult>((resolve, reject) => {
          this.attach(room);
          room.edit({ ...as, once: false, isExact: false, change, completion: { resolve, reject } });
        }),
    );
    this.#show();
    return { revision, changed, value: value as T };
  }

  /** Sets the cursor behind the last character that the participant wrote, as a position that moves with the text. */
  #noteCursor(document: Y.Doc): void {
    const last = document.store.clients.get(this.#options.clientId)?.at(-1);
    if (!(last instanceof Y.Item)) return;
    const position = { item: { client: last.id.client, clock: last.id.clock + last.length - 1 }, assoc: -1 };
    this.#cursor = { anchor: position, head: position };
  }

  #show(): void {
    if (this.#joined === undefined || this.#hasLeft) return;
    const { room, connection } = this.#joined;
    this.#clock += 1;
    const state = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    const entry = { clientId: this.#options.clientId, clock: this.#clock, json: encoder.encode(JSON.stringify(state)) };
    room.presence.publish(connection, [entry]);
    this.#cancelRenewal?.();
    this.#cancelRenewal = this.#host.clock.after(renewalMs, () => this.#show());
  }
}

/** Discards every frame, because a participant reads the document directly. */
const nullPeer: Peer = {
  send: () => "sent",
  bufferedBytes: 0,
  subscribe: () => undefined,
  unsubscribe: () => undefined,
  close: () => undefined,
};
