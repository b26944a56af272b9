/**
 * This module defines the host port: the interface between the server and its HTTP and WebSocket implementation.
 *
 * Two adapters implement it: uWebSockets.js, and node:http with ws where no native binary is available. The port knows
 * no operations, credentials or documents.
 */

/**
 * The request headers that the server reads. Every host checks them with `findHeadFault` before the app sees the
 * request, so a header that is not in this list cannot be read.
 */
export const readHeaders = [
  "accept",
  "accept-encoding",
  "access-control-request-method",
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "host",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "last-event-id",
  "origin",
  "prefer",
  "traceparent",
  "transfer-encoding",
  "trpc-accept",
  "x-api-key",
  "x-forwarded-for",
  "x-request-id",
  "x-svc-api-version",
  "x-svc-web",
] as const;

export type HeaderName = (typeof readHeaders)[number];

/** Allowance for the bytes of a body that the host keeps in memory. */
export interface ByteAllowance {
  /** Adds `bytes` to the count. Returns false, and adds nothing, if there is no room for them. */
  take(bytes: number): boolean;
}

/** The body of one request. */
export interface RequestBody {
  /** Value of `content-length`; 0 without that header; undefined for a chunked body. */
  readonly declaredBytes: number | undefined;
  /**
   * Reads the whole body. Resolves to `"too_large"` as soon as more than `maxBytes` are declared or have arrived, and to
   * `"no_room"` as soon as the allowance has no room. Later bytes are discarded. Rejects with `ClientGone` if the client
   * disconnects first. Call it at most once, before the answer.
   */
  read(maxBytes: number): Promise<Uint8Array | "too_large" | "no_room">;
}

export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** Path without the query, not decoded. */
  readonly path: string;
  /** Query without `?`, not decoded. */
  readonly query: string;
  /**
   * Fault in the request line or the headers, as a sentence for the client. A request with a fault must be refused with
   * 400, and its connection must be closed.
   */
  readonly fault: string | undefined;
  /**
   * Returns the value of a header. Headers are copied before the first await, so they are valid as long as the request.
   * The values of a repeated header are joined with ", ", so a credential that was sent twice is not valid.
   */
  header(name: HeaderName): string | undefined;
  /** IP address of the TCP peer, as text. */
  readonly remoteAddress: string;
  /**
   * Opens the body. Call it in the same turn as the handler, at most once. Until `read` is called, the host buffers the
   * first bytes and then stops reading from the connection. An answer without `read` discards the body.
   */
  body(allowance: ByteAllowance): RequestBody;
  /** Aborts with `ClientGone` if the client disconnects before the answer is complete. */
  readonly signal: AbortSignal;
}

/** Thrown if the client disconnected before its request was complete, so no answer can be sent. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** The body of an answer whose pieces are written one by one, for example an event stream. */
export interface StreamedBody {
  /** Called once, after the head was written. An error that it or `drain` throws is a bug and cuts the answer. */
  open(sink: BodySink): void;
  /** Called when there is room again after a `write` that returned false. */
  drain(): void;
  /**
   * Called once and last: inside `end` or `cut`, when the client disconnects, or instead of `open` if the body is not
   * sent.
   */
  close(): void;
}

/** The connection that a streamed body is written to. All members may be called at any time; after the close they do nothing. */
export interface BodySink {
  /** Writes a piece, which must not change afterwards. Returns false if the client reads too slowly: wait for `drain`. */
  write(piece: Uint8Array): boolean;
  /** Ends the answer after the written pieces. */
  end(): void;
  /** Disconnects the client at once, so that it knows that the answer is incomplete. An `error` is reported as a bug. */
  cut(error?: unknown): void;
}

export interface HttpReply {
  readonly status: number;
  /** Values in printable ASCII. The adapter sets the framing headers (content-length, connection, transfer-encoding). */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer to HEAD has only the headers. */
  readonly body?: string | Uint8Array | StreamedBody;
  /** True if the connection must be closed after the answer. */
  readonly close?: boolean;
}

/**
 * One open WebSocket. All members may be called at any time; after the close they do nothing. The client gets the messages
 * of `send` and of its topics in the order of the calls.
 */
export interface Socket {
  /** Sends a message. `dropped` means that it was not sent; the caller must close. `bytes` may be reused afterwards. */
  send(bytes: Uint8Array): "sent" | "buffered" | "dropped";
  /** Bytes that `send` accepted and that are not yet written to the connection. */
  readonly bufferedBytes: number;
  /** From now on the socket gets what is published on the topic. */
  subscribe(topic: string): void;
  /** What is published from now on is not sent to the socket. */
  unsubscribe(topic: string): void;
  /**
   * Sends a close frame. Later messages of the client are discarded. A client that does not close its side is
   * disconnected within `socketLingerMs`.
   */
  close(code: number, reason: string): void;
}

/**
 * Maximum time that a socket's connection and receive buffer exist after `Socket.close`. uWebSockets.js disconnects the
 * client after at most 16 s.
 */
export const socketLingerMs = 30_000;

/** Event handlers of one socket, returned by `upgrade`. They are called in the order of the socket's events. */
export interface SocketHandlers {
  open(socket: Socket): void;
  /**
   * Receives a message. A text message arrives as its UTF-8 bytes. The handler may keep `bytes`, but small messages share
   * pieces of 8 KiB of memory: copy what stays for longer than the message is handled.
   */
  message(bytes: Uint8Array): void;
  /**
   * Called for each ping or pong of the client, with the size of its payload. The host has answered the ping already. The
   * handler must count these frames and close a socket whose client does not read the answers: no limit stops the host.
   */
  control(bytes: number): void;
  /** Called when the send buffer has room again. */
  drain(): void;
  /** Called last, and never from inside `Socket.close`. */
  close(code: number): void;
}

export type UpgradeAnswer = { readonly accept: SocketHandlers } | { readonly refuse: HttpReply };

export interface HostApp {
  /**
   * Answers a request. It must open `request.body` synchronously, if it needs the body. An error that it throws is a bug
   * and is answered with 500.
   */
  handle(request: HttpRequest): HttpReply | Promise<HttpReply>;
  /**
   * Answers a WebSocket upgrade request for any path. An error that it throws is a bug and is answered with 500. If the
   * client disconnects before the answer, the request's signal aborts and no handler of an accepted socket is called.
   */
  upgrade(request: HttpRequest): UpgradeAnswer | Promise<UpgradeAnswer>;
}

export interface HostOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Maximum size of a WebSocket message. A larger message closes the socket with 1009. */
  readonly maxFrameBytes: number;
  /** Maximum number of buffered bytes of a socket. Above it, `send` returns `dropped`. */
  readonly maxBufferedBytes: number;
  /** Called with an error that the app threw, which is a bug. The client got a 500 or the close code 1011. */
  readonly onError: (error: unknown) => void;
}

export interface Host {
  readonly port: number;
  /**
   * Sends a message to every socket that subscribes to the topic, without regard to `maxBufferedBytes`: a subscriber that
   * was skipped would not know of it. The caller must close sockets whose `bufferedBytes` become too many. `bytes` may be
   * reused afterwards.
   */
  publish(topic: string, bytes: Uint8Array): void;
  /** Stops accepting connections. Open connections continue. */
  stopListening(): void;
  /** Closes all connections that are still open. */
  close(): Promise<void>;
}

/** Starts a host. Rejects with `CannotListen` if the port is taken or the address is not one of this machine. */
export type StartHost = (app: HostApp, options: HostOptions) => Promise<Host>;
