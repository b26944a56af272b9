/**
 * `startNodeHost` implements the host port on node:http and ws.
 *
 * It is used where no native binary of uWebSockets.js is available. It passes the same test suite as the uWebSockets.js
 * host, but makes no promise about speed. It knows no routes and no operations.
 */
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { CannotListen } from "../../platform/exit.ts";
import { NodeRequest } from "./nodeRequest.ts";
import { NodeStream } from "./nodeStream.ts";
import { NodeTopics } from "./nodeTopics.ts";
import { ClientGone, type HttpReply, type Socket, type SocketHandlers, type StartHost } from "./port.ts";
import { discardStream, everyAnswer, failed, isStreamed, maxDiscardBytes, maxHeadBytes, toHeaderText } from "./reply.ts";

const keepAliveMs = 10_000;
const pingEveryMs = 30_000;
/** Time after which a client that does not answer the close frame is disconnected. uWebSockets.js also does this. */
const closeTimeoutMs = 10_000;

class NodeSocket implements Socket {
  private readonly ws: WebSocket;
  private readonly connection: Duplex;
  private readonly topics: NodeTopics;
  private readonly subscriptions = new Set<string>();
  private readonly maxBufferedBytes: number;
  private readonly onDrain: () => void;
  private full = false;
  private readonly onWritten = (): void => {
    if (!this.full || this.ws.bufferedAmount > 0) return;
    this.full = false;
    if (this.open) this.onDrain();
  };

  /** Close code that the server sent. Undefined if the server did not close the socket. */
  closedWith: number | undefined;

  constructor(ws: WebSocket, connection: Duplex, topics: NodeTopics, maxBufferedBytes: number, onDrain: () => void) {
    this.ws = ws;
    this.connection = connection;
    this.topics = topics;
    this.maxBufferedBytes = maxBufferedBytes;
    this.onDrain = onDrain;
  }

  get open(): boolean {
    return this.ws.readyState === WebSocket.OPEN;
  }

  send(bytes: Uint8Array): "sent" | "buffered" | "dropped" {
    if (!this.open || this.ws.bufferedAmount > this.maxBufferedBytes) return "dropped";
    // Copy the bytes: `ws` needs them until the kernel takes them, but the caller may reuse its buffer at once.
    this.write(Uint8Array.from(bytes));
    return this.ws.bufferedAmount > 0 ? "buffered" : "sent";
  }

  /** Sends bytes without a copy. They must not change afterwards. */
  write(bytes: Uint8Array): void {
    this.ws.send(bytes, { binary: true }, this.onWritten);
    if (this.ws.bufferedAmount > 0) this.full = true;
  }

  /** Answers a ping. */
  pong(payload: Buffer): void {
    this.ws.pong(payload, false, this.onWritten);
    if (this.ws.bufferedAmount > 0) this.full = true;
  }

  subscribe(topic: string): void {
    if (!this.open) return;
    this.subscriptions.add(topic);
    this.topics.add(topic, this);
  }

  unsubscribe(topic: string): void {
    this.subscriptions.delete(topic);
    this.topics.delete(topic, this);
  }

  unsubscribeAll(): void {
    for (const topic of this.subscriptions) this.unsubscribe(topic);
  }

  get bufferedBytes(): number {
    return this.open ? this.ws.bufferedAmount : 0;
  }

  close(code: number, reason: string): void {
    if (!this.open) return;
    this.closedWith = code;
    this.unsubscribeAll();
    this.ws.close(code, reason);
    // Discard further input. Otherwise `ws` would buffer a message up to the frame limit until the client answers.
    this.connection.removeAllListeners("data").resume().end();
    const cutOff = setTimeout(() => this.connection.destroy(), closeTimeoutMs).unref();
    this.connection.once("close", () => clearTimeout(cutOff));
  }
}

export const startNodeHost: StartHost = async (app, options) => {
  const { onError } = options;
  const server = createServer({ maxHeaderSize: maxHeadBytes, keepAliveTimeout: keepAliveMs });
  const topics = new NodeTopics();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: options.maxFrameBytes, perMessageDeflate: false, autoPong: false });

  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (incoming.httpVersion !== "1.1") {
      outgoing.writeHead(505, { ...everyAnswer, connection: "close" }).end();
      return;
    }
    const request = new NodeRequest(incoming);
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) request.abort();
    });
    outgoing.on("error", () => request.abort());
    settle(() => app.handle(request), onError)
      .then((reply) => send(request, outgoing, reply, onError))
      .catch((error) => {
        onError(error);
        outgoing.destroy();
      });
  });

  server.on("upgrade", (incoming: IncomingMessage, connection: Duplex, head: Buffer) => {
    const request = new NodeRequest(incoming);
    const gone = () => request.abort();
    // Read from the connection while waiting for the answer, because Node reports a disconnect only to a reader.
    // A client that sends data before the answer is disconnected.
    const destroy = () => connection.destroy();
    connection.on("error", gone).on("close", gone).on("end", destroy).on("data", destroy);
    settle(() => app.upgrade(request), onError)
      .then((answered) => {
        connection.off("end", destroy).off("data", destroy);
        if (!("accept" in answered)) return refuse(request, connection, "refuse" in answered ? answered.refuse : answered, onError);
        sockets.handleUpgrade(incoming, connection, head, (ws) => {
          connection.off("close", gone);
          serveSocket(ws, connection, answered.accept, topics, options.maxBufferedBytes, onError);
        });
      })
      .catch((error) => {
        onError(error);
        connection.destroy();
      });
  });

  // Pings detect half-open connections: a socket without a pong until the next ping is terminated.
  const silent = new WeakSet<WebSocket>();
  const pings = setInterval(() => {
    for (const ws of sockets.clients) {
      if (silent.has(ws)) ws.terminate();
      else {
        silent.add(ws);
        ws.once("pong", () => silent.delete(ws)).ping();
      }
    }
  }, pingEveryMs).unref();

  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const why = "the port is taken, or the address is not one of this machine";
      reject(new CannotListen(`cannot listen on ${options.host}:${options.port}: ${why}`, { cause }));
    });
    server.listen({ host: options.host, port: options.port, exclusive: true }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    publish: (topic, bytes) => topics.publish(topic, bytes),
    stopListening() {
      server.close();
    },
    async close() {
      clearInterval(pings);
      server.close();
      for (const ws of sockets.clients) ws.terminate();
      server.closeAllConnections();
    },
  };
};

/** Awaits the app's answer. An error that the app throws becomes a 500. */
async function settle<Answer>(ask: () => Answer | Promise<Answer>, onError: (error: unknown) => void): Promise<Answer | HttpReply> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ClientGone)) onError(error);
    return failed;
  }
}

/** Refuses an upgrade with an ordinary HTTP answer on the same connection. */
function refuse(request: NodeRequest, connection: Duplex, reply: HttpReply, onError: (error: unknown) => void): Promise<void> {
  const outgoing = new ServerResponse(request.incoming);
  outgoing.assignSocket(connection as never);
  outgoing.on("finish", () => connection.end());
  return send(request, outgoing, { ...reply, close: true }, onError);
}

async function send(request: NodeRequest, outgoing: ServerResponse, reply: HttpReply, onError: (error: unknown) => void): Promise<void> {
  const { body } = reply;
  try {
    // Only for the check: `ServerResponse` writes the headers.
    toHeaderText(reply.headers);
  } catch (error) {
    onError(error);
    discardStream(body);
    return send(request, outgoing, failed, onError);
  }
  if (outgoing.destroyed) {
    discardStream(body);
    return;
  }
  const tooLong = Number(request.incoming.headers["content-length"] ?? 0) > maxDiscardBytes;
  outgoing.writeHead(reply.status, {
    ...everyAnswer,
    ...reply.headers,
    ...(body === undefined || isStreamed(body) ? {} : { "content-length": Buffer.byteLength(body) }),
    ...(reply.close === true || tooLong ? { connection: "close" } : {}),
  });
  // Discard an unread body. Closing the connection with unread bytes would reset it, and the client would lose the answer.
  if (!tooLong) request.incoming.resume();
  if (!isStreamed(body)) outgoing.end(body);
  else if (request.method === "HEAD") {
    discardStream(body);
    outgoing.end();
  } else new NodeStream(outgoing, body, onError).open();
}

function serveSocket(
  ws: WebSocket,
  connection: Duplex,
  handlers: SocketHandlers,
  topics: NodeTopics,
  maxBufferedBytes: number,
  onError: (error: unknown) => void,
): void {
  const guarded = (act: () => void) => {
    try {
      act();
    } catch (error) {
      onError(error);
      socket.close(1011, "internal error");
    }
  };
  const socket = new NodeSocket(ws, connection, topics, maxBufferedBytes, () => guarded(() => handlers.drain()));
  ws.binaryType = "nodebuffer";
  // Ignore errors: `ws` closes the socket itself, with 1009 for a message that is too large and 1002 for a broken frame.
  ws.on("error", () => undefined);
  ws.on("message", (message: Buffer) => {
    if (socket.open) guarded(() => handlers.message(new Uint8Array(message)));
  });
  const control = (payload: Buffer) => {
    if (socket.open) guarded(() => handlers.control(payload.length));
  };
  ws.on("ping", (payload: Buffer) => {
    if (socket.open) socket.pong(payload);
    control(payload);
  });
  ws.on("pong", control);
  ws.on("close", (code) => {
    socket.unsubscribeAll();
    guarded(() => handlers.close(socket.closedWith ?? code));
  });
  guarded(() => handlers.open(socket));
}
