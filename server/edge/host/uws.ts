/**
 * `startUwsHost` implements the host port on uWebSockets.js. It knows no routes and no operations.
 *
 * Native objects are valid only for a short time: the request and the bytes of a message until their callback returns,
 * the response until it ends or is aborted. All data is therefore copied before the first await, and no native object
 * is used after an abort.
 * If a client pipelines a request while an answer is pending, uWebSockets.js closes the connection. The client then
 * repeats the request on a new connection (RFC 9112). Answers never change their order.
 */

import type {
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from "uWebSockets.js";
import { CannotListen } from "../../platform/exit.ts";
import { ClientGone, type HostApp, type HttpReply, type Socket, type SocketHandlers, type StartHost } from "./port.ts";
import { discardStream, failed, isStreamed, maxHeadBytes, toHeaderText } from "./reply.ts";
import { toStatusLine } from "./statusLine.ts";
import { UwsRequest } from "./uwsRequest.ts";
import { UwsStream } from "./uwsStream.ts";

/** Functions of the package that its type declarations do not contain. */
interface Native {
  App(): TemplatedApp & {
    listen(host: string, port: number, options: number, ready: (socket: us_listen_socket | false) => void): void;
  };
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_socket): number;
}

/** Pings detect a half-open socket within this time. */
const socketIdleSeconds = 60;

class UwsSocket implements Socket {
  native: WebSocket<SocketData> | undefined;
  private readonly maxBufferedBytes: number;

  constructor(maxBufferedBytes: number) {
    this.maxBufferedBytes = maxBufferedBytes;
  }

  send(bytes: Uint8Array): "sent" | "buffered" | "dropped" {
    if (this.native === undefined || this.bufferedBytes > this.maxBufferedBytes) return "dropped";
    // The library first sends what was published to the socket's topics, so the order is that of the calls.
    return this.native.send(bytes, true) === 1 ? "sent" : "buffered";
  }

  subscribe(topic: string): void {
    this.native?.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.native?.unsubscribe(topic);
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

/**
 * Turns a request into a socket. When the cork ends, the library reads its state of the request from memory that the upgrade
 * has freed (D-143). If other values are there by then, it closes the new socket. So nothing may allocate memory between the
 * upgrade and the end of the cork: only native functions run, because V8 may compile a JavaScript function during any call.
 */
class Upgrade {
  /** The socket that the library's `open` sets. An array, because V8 may allocate when a field of an object gets a new kind of value. */
  private readonly opened: unknown[] = [{}];
  readonly open: (ws: WebSocket<SocketData>) => void = Reflect.set.bind(Reflect, this.opened, 0);

  accept(response: HttpResponse, data: SocketData, head: UpgradeHead): void {
    response.cork(response.upgrade.bind(response, {}, head.key, "", head.extensions, head.context));
    const ws = this.opened[0] as WebSocket<SocketData>;
    this.opened[0] = this;
    Object.assign(ws.getUserData(), data);
    data.socket.native = ws;
  }
}

/** What the library needs of the request for the handshake. */
interface UpgradeHead {
  readonly key: string;
  readonly extensions: string;
  readonly context: us_socket_context_t;
}

export const startUwsHost: StartHost = async (app, options) => {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(maxHeadBytes);
  // Import here, because the native module reads this variable when it loads and the caller handles a missing binary.
  const native = (await import("uWebSockets.js")) as unknown as Native;
  const { onError } = options;
  const server = native.App();

  server.ws("/*", socketBehavior(app, options.maxFrameBytes, options.maxBufferedBytes, onError));
  server.any("/*", (response, nativeRequest) => serve(new UwsRequest(response, nativeRequest), app, onError));

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
    publish: (topic, bytes) => void server.publish(topic, bytes, true),
    stopListening,
    async close() {
      stopListening();
      server.close();
    },
  };
};

function serve(request: UwsRequest, app: HostApp, onError: (error: unknown) => void): void {
  void answer(
    request,
    () => app.handle(request),
    (reply) => send(request, reply, onError),
    onError,
  );
}

/** Calls the app and passes its answer to `give`, synchronously if the app answers synchronously. Errors become a 500. */
async function answer<Answer>(
  request: UwsRequest,
  ask: () => Answer | Promise<Answer>,
  give: (answer: Answer) => void,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    const asked = ask();
    give(asked instanceof Promise ? await asked : asked);
  } catch (error) {
    if (!(error instanceof ClientGone)) onError(error);
    if (!request.over) send(request, failed, onError);
  }
}

/**
 * Sends an answer. An answer that closes the connection is sent in the next turn: if the library reads another pipelined
 * request after a closing answer in the same turn, it does not close the connection. If such a request arrives while
 * this one is unanswered, the library closes the connection at once.
 */
function send(request: UwsRequest, reply: HttpReply, onError: (error: unknown) => void): void {
  if (reply.close === true || request.endsConnection) setImmediate(write, request, { ...reply, close: true }, onError);
  else write(request, reply, onError);
}

function write(request: UwsRequest, reply: HttpReply, onError: (error: unknown) => void): void {
  const { response } = request;
  const { body, headers, close = false } = reply;
  if (request.over) {
    discardStream(body);
    return;
  }
  request.discardBody();
  // Pass status and headers as one string. The library writes it unchanged, and each native call costs more than the text.
  let head = toStatusLine(reply.status);
  try {
    head += toHeaderText(headers);
  } catch (error) {
    onError(error);
    discardStream(body);
    write(request, { ...failed, close }, onError);
    return;
  }
  response.cork(() => {
    response.writeStatus(head);
    if (isStreamed(body)) {
      if (request.method !== "HEAD") return;
      discardStream(body);
    }
    request.over = true;
    if (request.method === "HEAD" && !request.endsConnection) {
      // Write the length as a header, because `endWithoutBody(length)` leaves the response open.
      if (body !== undefined && !isStreamed(body)) response.writeHeader("content-length", String(Buffer.byteLength(body)));
      response.endWithoutBody();
    } else if (!close && (reply.status === 204 || reply.status === 304)) response.endWithoutBody();
    else response.end(body === undefined || isStreamed(body) || request.method === "HEAD" ? "" : body, close);
  });
  if (!request.over && isStreamed(body)) new UwsStream(request, body, onError).open();
}

/** Small frames share Node's pieces of 8 KiB: one piece of memory for each frame takes six times as long to make and to free. */
function copyFrame(message: ArrayBuffer): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(new Uint8Array(message));
  return new Uint8Array(buffer, byteOffset, byteLength);
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
  // The library stops reading from the socket if the handler closes it.
  const control = (ws: WebSocket<SocketData>, payload: ArrayBuffer) => {
    const data = ws.getUserData();
    guarded(data, () => data.handlers.control(payload.byteLength));
  };
  const upgrade = new Upgrade();
  return {
    // No limit: above one, the library would skip published messages, and `publish` could not report the skipped socket.
    maxBackpressure: 0,
    // Above this size the library disconnects without a close frame. Below it, the server can close with 1009.
    maxPayloadLength: 2 * maxFrameBytes,
    closeOnBackpressureLimit: false,
    idleTimeout: socketIdleSeconds,
    sendPingsAutomatically: true,
    upgrade(response, nativeRequest, context) {
      const request = new UwsRequest(response, nativeRequest);
      if (!/\bupgrade\b/i.test(nativeRequest.getHeader("connection"))) {
        serve(request, app, onError);
        return;
      }
      const key = nativeRequest.getHeader("sec-websocket-key");
      const head = { key, extensions: nativeRequest.getHeader("sec-websocket-extensions"), context };
      const give = (answered: Awaited<ReturnType<HostApp["upgrade"]>>) => {
        if ("refuse" in answered) {
          send(request, answered.refuse, onError);
          return;
        }
        if (request.over) return;
        request.over = true;
        const data: SocketData = { handlers: answered.accept, socket: new UwsSocket(maxBufferedBytes) };
        upgrade.accept(response, data, head);
        guarded(data, () => data.handlers.open(data.socket));
      };
      void answer(request, () => app.upgrade(request), give, onError);
    },
    open: upgrade.open,
    message(ws, message) {
      const data = ws.getUserData();
      if (message.byteLength > maxFrameBytes) data.socket.close(1009, `a message may have at most ${maxFrameBytes} bytes`);
      else guarded(data, () => data.handlers.message(copyFrame(message)));
    },
    ping: control,
    pong: control,
    drain(ws) {
      const data = ws.getUserData();
      guarded(data, () => data.handlers.drain());
    },
    close(ws, code) {
      const data = ws.getUserData();
      data.socket.native = undefined;
      // `Socket.close` triggers this callback synchronously, but the port says that handlers are never called inside it.
      queueMicrotask(() => guarded(data, () => data.handlers.close(code)));
    },
  };
}
