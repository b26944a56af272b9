/**
 * Somebody of the server's own in a document: an agent that writes for a while, under one client id, seen by all.
 *
 * It sits among the sockets, with a far end that hears nothing, so it keeps the room open and everybody sees its
 * name and its cursor. What it writes may hang on a lease of the work it does: once that has moved on, nothing of it
 * is stored any more (`WriteFenced`). What it takes back is what it typed itself, never a letter of anybody else.
 */
import * as Y from "yjs";
import type { Author } from "../api/schema/article.ts";
import type { Connection } from "./connection.ts";
import type { Clock, ConnectionIdentity, Peer, WriteGuard } from "./ports.ts";
import type { EditResult, Room } from "./room.ts";

export interface ParticipantOptions {
  readonly author: Author;
  /** Shown beside its cursor. */
  readonly displayName: string;
  /** Of its own: nobody else writes under it. */
  readonly clientId: number;
  readonly guard?: WriteGuard;
}

export interface Participant {
  /** One transaction under this participant's client id; durable and relayed when it resolves. Rejects with `WriteFenced`. */
  edit<T>(
    change: (document: Y.Doc, revision: number) => T,
  ): Promise<{ readonly revision: number; readonly changed: boolean; readonly value: T }>;
  /** Deletes what these client ids typed and is still there; nothing of anybody else's. */
  takeBack(clientIds: readonly number[]): Promise<{ readonly revision: number }>;
  /** Nobody sees it any more. */
  leave(): void;
}

/** What it needs of the rooms. */
export interface Seats {
  readonly clock: Clock;
  /** In the open room of the document, loaded again when it ended. */
  within<T>(task: (room: Room) => Promise<T> | T): Promise<T>;
  /** Lets it in, without counting it as a socket. */
  seat(room: Room, peer: Peer, identity: ConnectionIdentity): Connection;
}

/** Clients forget a presence that was silent for 30 s. */
const renewalMs = 15_000;

const encoder = new TextEncoder();

export async function openParticipant(seats: Seats, options: ParticipantOptions): Promise<Participant> {
  const participant = new ServerParticipant(seats, options);
  await seats.within((room) => participant.sit(room));
  return participant;
}

class ServerParticipant implements Participant {
  readonly #seats: Seats;
  readonly #options: ParticipantOptions;
  #seat: { readonly room: Room; readonly connection: Connection } | undefined;
  #clock = 0;
  #cursor: object | undefined;
  #cancelRenewal: (() => void) | undefined;
  #hasLeft = false;

  constructor(seats: Seats, options: ParticipantOptions) {
    this.#seats = seats;
    this.#options = options;
  }

  /** Takes a place in this room; a room that ended was left by its end. */
  sit(room: Room): void {
    if (this.#hasLeft || this.#seat?.room === room) return;
    const { author, displayName } = this.#options;
    const identity: ConnectionIdentity = { author, displayName, mayWrite: true, credentialId: `participant/${this.#options.clientId}` };
    const connection = this.#seats.seat(room, deafPeer, identity);
    this.#seat = { room, connection };
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

  async takeBack(clientIds: readonly number[]) {
    const { author, clientId, guard } = this.#options;
    // What they typed may have come about on another node, which did not live to tell.
    await this.#seats.within((room) => room.freshen());
    const { revision } = await this.#run(
      (document) => {
        document.transact((transaction) => {
          for (const id of clientIds) {
            for (const struct of document.store.clients.get(id) ?? []) {
              if (struct instanceof Y.Item && !struct.deleted) struct.delete(transaction);
            }
          }
          // A text remembers where its indices were found, and learns only of deletions by index: the next insertion would
          // be put beside its place, into somebody's words.
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
    this.#seat?.connection.close(1000, "done");
    this.#seat = undefined;
  }

  async #run<T>(
    change: (document: Y.Doc, revision: number) => T,
    as: { readonly author: Author; readonly clientId: number; readonly guard: WriteGuard | undefined },
  ): Promise<{ readonly revision: number; readonly changed: boolean; readonly value: T }> {
    if (this.#hasLeft) throw new Error("a participant writes after it left");
    const { revision, changed, value } = await this.#seats.within(
      (room) =>
        new Promise<EditResult>((resolve, reject) => {
          this.sit(room);
          room.edit({ ...as, once: false, isExact: false, change, settle: { resolve, reject } });
        }),
    );
    this.#show();
    return { revision, changed, value: value as T };
  }

  /** Behind the last letter it typed, wherever that has got to. */
  #noteCursor(document: Y.Doc): void {
    const last = document.store.clients.get(this.#options.clientId)?.at(-1);
    if (!(last instanceof Y.Item)) return;
    const position = { item: { client: last.id.client, clock: last.id.clock + last.length - 1 }, assoc: -1 };
    this.#cursor = { anchor: position, head: position };
  }

  #show(): void {
    if (this.#seat === undefined || this.#hasLeft) return;
    const { room, connection } = this.#seat;
    this.#clock += 1;
    const state = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    const entry = { clientId: this.#options.clientId, clock: this.#clock, json: encoder.encode(JSON.stringify(state)) };
    room.presence.speak(connection, [entry]);
    this.#cancelRenewal?.();
    this.#cancelRenewal = this.#seats.clock.after(renewalMs, () => this.#show());
  }
}

/** The far end of somebody who reads the document itself. */
const deafPeer: Peer = { send: () => "sent", bufferedBytes: 0, close: () => undefined };
