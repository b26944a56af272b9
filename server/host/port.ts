/**
 * The host port: what the server needs from whatever speaks HTTP and WebSocket for it.
 *
 * Two adapters keep it: uWebSockets.js and, where no native binary fits, node:http with ws. The port
 * knows nothing of operations, credentials or documents.
 */

export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** Raw path without the query. */
  readonly path: string;
  /** Raw query without `?`. */
  readonly query: string;
  /**
   * `name` in lower case; copied before the first await, so valid for as long as the request lives. A header
   * sent several times reads as its values joined with ", ", so a doubled credential is no credential.
   */
  header(name: string): string | undefined;
  /** The peer of the TCP connection, as text. */
  readonly remoteAddress: string;
  /**
   * Reads the body whole. Must be called in the same turn as the handler. Resolves `"too_large"` as soon as
   * more than `maxBytes` are declared or have come; what still comes is thrown away. Rejects with `ClientGone`
   * when the client goes away first.
   */
  body(maxBytes: number): Promise<Uint8Array | "too_large">;
  /** Aborts when the client goes away before the answer is complete. */
  readonly signal: AbortSignal;
}

/** The client went away before its request was whole: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

export interface HttpReply {
  readonly status: number;
  /** Printable ASCII values; framing (content-length, connection, transfer-encoding) is the adapter's. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Pieces of an iterable are flushed as they come; the adapter waits while the client's buffer is full and
   * calls the iterator's `return` when the client goes away. HEAD answers with the headers alone.
   */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** Close the connection after the answer. */
  readonly close?: boolean;
}

/** One open WebSocket. Every member may be called at any time; after the close they do nothing. */
export interface Socket {
  /** `dropped` means the message did not go out: the caller must close. `bytes` may be reused afterwards. */
  send(bytes: Uint8Array): "sent" | "buffered" | "dropped";
  /** Bytes accepted by `send` that the client has not taken yet. */
  readonly bufferedBytes: number;
  close(code: number, reason: string): void;
}

/** What a socket does; made by the upgrade for this one socket. All are called in the socket's own order. */
export interface SocketHandlers {
  open(socket: Socket): void;
  /** `bytes` is the receiver's to keep. Text messages come as their UTF-8 bytes. */
  message(bytes: Uint8Array): void;
  /** The buffer has room again. */
  drain(): void;
  /** The last call; never made from inside `Socket.close`. */
  close(code: number): void;
}

export type UpgradeAnswer = { readonly accept: SocketHandlers } | { readonly refuse: HttpReply };

export interface HostApp {
  /** Runs synchronously until it has called `request.body` or decided not to. What it throws is a bug and answered with 500. */
  handle(request: HttpRequest): HttpReply | Promise<HttpReply>;
  /** A WebSocket upgrade request for any path. What it throws is a bug and answered with 500. */
  upgrade(request: HttpRequest): UpgradeAnswer | Promise<UpgradeAnswer>;
}

export interface HostOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Largest WebSocket message; a larger one closes with 1009. */
  readonly maxFrameBytes: number;
  /** Above this a `send` is `dropped`. */
  readonly maxBufferedBytes: number;
  /** Told of what was thrown where nothing may be thrown: a bug. The caller got a 500 or close code 1011. */
  readonly onError: (error: unknown) => void;
}

export interface Host {
  readonly port: number;
  /** Stop accepting connections; what is open goes on. */
  stopListening(): void;
  /** Close what is still open. */
  close(): Promise<void>;
}

/** The address or port cannot be had; the message says which and why. Anything else a host throws is its own trouble. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

/** Rejects with `CannotListen` when the port is taken. */
export type StartHost = (app: HostApp, options: HostOptions) => Promise<Host>;
