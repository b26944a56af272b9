/** SocketPeer is the sending side of a socket as the room sees it: the session decides how the socket is closed. */
import type { Peer } from "../../../realtime/ports.ts";
import type { Socket } from "../host/port.ts";

interface Closer {
  finish(code: number, reason: string): void;
}

export class SocketPeer implements Peer {
  readonly #socket: Socket;
  readonly #session: Closer;

  constructor(socket: Socket, session: Closer) {
    this.#socket = socket;
    this.#session = session;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  send(bytes: Uint8Array): "sent" | "buffered" | "dropped" {
    return this.#socket.send(bytes);
  }

  subscribe(topic: string): void {
    this.#socket.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.#socket.unsubscribe(topic);
  }

  close(code: number, reason: string): void {
    this.#session.finish(code, reason);
  }
}
