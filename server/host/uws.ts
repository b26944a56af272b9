/**
 * The host on uWebSockets.js.
 *
 * Its native request dies with the first callback, its response with the end or abort of the connection, and a
 * message's bytes when the callback returns: everything is copied before anyone may await, and nothing native is
 * touched after an abort. It knows no routes and no meanings.
 *
 * Requests pipelined behind one whose answer is still awaited make uWebSockets.js close the connection (their
 * sender repeats them on a new one, as RFC 9112 asks); answers never change places.
 */

import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket,
  WebSocket,
  WebSocketBehavior,
} from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import {
  CannotListen,
  ClientGone,
  type HostApp,
  type HttpReply,
  type HttpRequest,
  type Socket,
  type SocketHandlers,
  type StartHost,
} from "./port.ts";
import { checkHeader, failed, isPieces, maxDiscardBytes, maxHeadBytes } from "./reply.ts";

/** What the package's own declarations leave out. */
interface Native {
  App(): TemplatedApp & {
    listen(host: string, port: number, options: number, ready: (socket: us_listen_socket | false) => void): void;
  };
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_socket): number;
}

/** Half-open sockets are found by pings within this time. */
const socketIdleSeconds = 60;

const statusLines = new Map(Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]));
const decoder = new TextDecoder();

class UwsRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly response: NativeResponse;
  readonly doubledLength: boolean;
  /** The client is gone, or the response ended: nothing native may be touched. */
  over = false;
  discards = false;
  onAbort: (() => void) | undefined;
  /** Names and values in turn: a request has few headers, and most of them are never asked for. */
  private readonly headers: string[] = [];
  private address: string | undefined;
  private controller: AbortController | undefined;
  private aborted = false;

  constructor(response: NativeResponse, native: NativeRequest) {
    this.response = response;
    this.method = native.getCaseSensitiveMethod();
    this.path = native.getUrl();
    this.query = native.getQuery() ?? "";
    native.forEach((name, value) => {
      this.headers.push(name, value);
    });
    this.doubledLength = this.header("content-length")?.includes(",") === true;
    response.onAborted(() => this.abort());
  }

  header(name: string): string | undefined {
    const { headers } = this;
    let found: string | undefined;
    for (let at = 0; at < headers.length; at += 2) {
      if (headers[at] === name) found = found === undefined ? headers[at + 1] : `${found}, ${headers[at + 1]}`;
    }
    return found;
  }

  get remoteAddress(): string {
    if (this.address === undefined && !this.over) this.address = decoder.decode(this.response.getRemoteAddressAsText());
    return this.address ?? "";
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.aborted) this.controller.abort();
    return this.controller.signal;
  }

  private abort(): void {
    this.over = true;
    this.aborted = true;
    this.onAbort?.();
    this.controller?.abort();
  }

  body(maxBytes: number): Promise<Uint8Array | "too_large"> {
    const declared = Number(this.header("content-length") ?? 0);
    if (declared > maxBytes) {
      this.discards = declared > maxDiscardBytes;
      return Promise.resolve("too_large");
    }
    return new Promise((resolve, reject) => {
      let parts: Buffer[] = [];
      let total = 0;
      this.onAbort = () => reject(new ClientGone());
      this.response.onData((chunk, isLast) => {
        if (total > maxBytes) return;
        total += chunk.byteLength;
        if (total > maxBytes) {
          parts = [];
          resolve("too_large");
          return;
        }
        // A copy: the chunk is detached when this callback returns.
        const part = Buffer.from(new Uint8Array(chunk));
        if (!isLast) parts.push(part);
        else resolve(parts.length === 0 ? part : Buffer.concat([...parts, part], total));
      });
    });
  }
}

class UwsSocket implements Socket {
  native: WebSocket<SocketData> | undefined;

  send(bytes: Uint8Array): "sent" | "buffered" | "dropped" {
    const outcome = this.native?.send(bytes, true);
    return outcome === 1 ? "sent" : outcome === 0 ? "buffered" : "dropped";
  }

  get bufferedBytes(): number {
    return this.native?.getBufferedAmount() ?? 0;
  }

  close(code: number, reason: string): void {
    const native = this.native;
    this.native = undefined;
    native?.end(code, reason);
  }
}

interface SocketData {
  readonly handlers: SocketHandlers;
  readonly socket: UwsSocket;
}

export const startUwsHost: StartHost = async (app, options) => {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(maxHeadBytes);
  // Loaded here: the native module reads that setting when it loads, and a missing binary is the starter's to handle.
  const native = (await import("uWebSockets.js")) as unknown as Native;
  const { onError } = options;
  const server = native.App();

  server.ws("/*", socketBehavior(app, options.maxFrameBytes, options.maxBufferedBytes, onError));
  server.any("/*", (response, nativeRequest) => {
    const request = new UwsRequest(response, nativeRequest);
    if (request.doubledLength) {
      send(
        request,
        { status: 400, headers: { "content-type": "text/plain" }, body: "content-length was sent twice", close: true },
        onError,
      );
      return;
    }
    answer(
      request,
      () => app.handle(request),
      (reply) => send(request, reply, onError),
      onError,
    );
  });

  const listening = await new Promise<us_listen_socket>((resolve, reject) => {
    server.listen(options.host, options.port, native.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket !== false) resolve(socket);
      else
        reject(
          new CannotListen(
            `cannot listen on ${options.host}:${options.port}: the port is taken, or the address is not one of this machine`,
          ),
        );
    });
  });
  let accepting = true;
  const stopListening = () => {
    if (accepting) native.us_listen_socket_close(listening);
    accepting = false;
  };
  return {
    port: native.us_socket_local_port(listening),
    stopListening,
    async close() {
      stopListening();
      server.close();
    },
  };
};

/** Calls the app and hands on what it gives, in this turn or later; whatever is thrown becomes a 500. */
function answer<Answer>(
  request: UwsRequest,
  ask: () => Answer | Promise<Answer>,
  give: (answer: Answer) => void,
  onError: (error: unknown) => void,
): void {
  const fail = (error: unknown) => {
    if (!(error instanceof ClientGone)) onError(error);
    if (!request.over) send(request, failed, onError);
  };
  const giveSafely = (given: Answer) => {
    try {
      give(given);
    } catch (error) {
      fail(error);
    }
  };
  try {
    const asked = ask();
    if (asked instanceof Promise) asked.then(giveSafely, fail);
    else giveSafely(asked);
  } catch (error) {
    fail(error);
  }
}

function send(request: UwsRequest, reply: HttpReply, onError: (error: unknown) => void): void {
  const { response } = request;
  const { body, headers } = reply;
  if (request.over) {
    if (isPieces(body)) void body[Symbol.asyncIterator]().return?.().catch(onError);
    return;
  }
  // Status and headers in one piece: the library writes it as it is, and each call into it costs more than the text.
  let head = statusLines.get(reply.status) ?? String(reply.status);
  for (const name in headers) {
    const value = headers[name] ?? "";
    checkHeader(name, value);
    head += `\r\n${name}: ${value}`;
  }
  response.cork(() => {
    response.writeStatus(head);
    if (isPieces(body)) {
      if (request.method === "HEAD") void body[Symbol.asyncIterator]().return?.().catch(onError);
      else return;
    }
    request.over = true;
    const close = reply.close === true || request.discards;
    if (request.method === "HEAD") {
      // Told by header: `endWithoutBody(length)` leaves the response open.
      if (body !== undefined && !isPieces(body)) response.writeHeader("content-length", String(Buffer.byteLength(body)));
      response.endWithoutBody();
    } else if (!close && (reply.status === 204 || reply.status === 304)) response.endWithoutBody();
    else response.end(body === undefined || isPieces(body) ? "" : body, close);
  });
  if (!request.over && isPieces(body)) void pump(request, body, onError);
}

async function pump(request: UwsRequest, pieces: AsyncIterable<string | Uint8Array>, onError: (error: unknown) => void): Promise<void> {
  const { response } = request;
  const iterator = pieces[Symbol.asyncIterator]();
  let roomAgain: (() => void) | undefined;
  request.onAbort = () => {
    roomAgain?.();
    iterator.return?.().catch(onError);
  };
  response.onWritable(() => {
    roomAgain?.();
    return true;
  });
  try {
    for (let next = await iterator.next(); !next.done && !request.over; next = await iterator.next()) {
      const piece = next.value;
      // A chunk without length would end the body.
      if (piece.length === 0) continue;
      let room = true;
      response.cork(() => {
        room = response.write(piece);
      });
      if (!room) await new Promise<void>((resolve) => (roomAgain = resolve));
      roomAgain = undefined;
      if (request.over) return;
    }
    if (request.over) return;
    request.over = true;
    response.cork(() => response.end());
  } catch (error) {
    onError(error);
    // A cut connection tells the client that the answer is not whole.
    if (!request.over) response.close();
  }
}

function socketBehavior(
  app: HostApp,
  maxFrameBytes: number,
  maxBufferedBytes: number,
  onError: (error: unknown) => void,
): WebSocketBehavior<SocketData> {
  const guarded = (data: SocketData, act: () => void) => {
    try {
      act();
    } catch (error) {
      onError(error);
      data.socket.close(1011, "internal error");
    }
  };
  return {
    // The library cuts the connection above this without a close frame; up to it we can say 1009.
    maxPayloadLength: 2 * maxFrameBytes,
    maxBackpressure: maxBufferedBytes,
    closeOnBackpressureLimit: false,
    idleTimeout: socketIdleSeconds,
    sendPingsAutomatically: true,
    upgrade(response, nativeRequest, context) {
      const request = new UwsRequest(response, nativeRequest);
      const key = nativeRequest.getHeader("sec-websocket-key");
      const extensions = nativeRequest.getHeader("sec-websocket-extensions");
      const give = (answered: Awaited<ReturnType<HostApp["upgrade"]>>) => {
        if ("refuse" in answered) {
          send(request, answered.refuse, onError);
          return;
        }
        if (request.over) return;
        request.over = true;
        const data: SocketData = { handlers: answered.accept, socket: new UwsSocket() };
        response.cork(() => response.upgrade(data, key, "", extensions, context));
      };
      answer(request, () => app.upgrade(request), give, onError);
    },
    open(ws) {
      const data = ws.getUserData();
      data.socket.native = ws;
      guarded(data, () => data.handlers.open(data.socket));
    },
    message(ws, message) {
      const data = ws.getUserData();
      if (message.byteLength > maxFrameBytes) data.socket.close(1009, `a message may have at most ${maxFrameBytes} bytes`);
      else guarded(data, () => data.handlers.message(new Uint8Array(message.slice(0))));
    },
    drain(ws) {
      const data = ws.getUserData();
      guarded(data, () => data.handlers.drain());
    },
    close(ws, code) {
      const data = ws.getUserData();
      data.socket.native = undefined;
      // `end` calls this from inside: the handler must not find itself within its own `close`.
      queueMicrotask(() => guarded(data, () => data.handlers.close(code)));
    },
  };
}
