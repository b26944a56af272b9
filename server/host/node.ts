/**
 * The host on node:http and ws, for where no native binary of uWebSockets.js fits. It keeps the same port on the
 * same suite and promises no speed. It knows no routes and no meanings.
 */
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { CannotListen, ClientGone, type HttpReply, type HttpRequest, type Socket, type SocketHandlers, type StartHost } from "./port.ts";
import { checkHeader, failed, isPieces, maxDiscardBytes, maxHeadBytes } from "./reply.ts";

const keepAliveMs = 10_000;
const pingEveryMs = 30_000;

class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly incoming: IncomingMessage;
  private controller: AbortController | undefined;
  private gone = false;

  constructor(incoming: IncomingMessage) {
    this.incoming = incoming;
    this.method = incoming.method ?? "GET";
    // An absolute target (RFC 9112, 3.2.2) counts as its path.
    const target = (incoming.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
    const mark = target.indexOf("?");
    this.path = (mark === -1 ? target : target.slice(0, mark)) || "/";
    this.query = mark === -1 ? "" : target.slice(mark + 1);
    this.remoteAddress = incoming.socket.remoteAddress ?? "";
  }

  header(name: string): string | undefined {
    return this.incoming.headersDistinct[name]?.join(", ");
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.gone) this.controller.abort();
    return this.controller.signal;
  }

  abort(): void {
    this.gone = true;
    this.controller?.abort();
  }

  body(maxBytes: number): Promise<Uint8Array | "too_large"> {
    const { incoming } = this;
    if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) return Promise.resolve("too_large");
    return new Promise((resolve, reject) => {
      let parts: Buffer[] = [];
      let total = 0;
      incoming.on("data", (chunk: Buffer) => {
        if (total > maxBytes) return;
        total += chunk.length;
        parts.push(chunk);
        if (total <= maxBytes) return;
        parts = [];
        resolve("too_large");
      });
      incoming.on("end", () => resolve(Buffer.concat(parts, total)));
      incoming.on("close", () => reject(new ClientGone()));
      incoming.on("error", () => reject(new ClientGone()));
    });
  }
}

class NodeSocket implements Socket {
  private readonly ws: WebSocket;
  private readonly maxBufferedBytes: number;
  private readonly onDrain: () => void;
  private full = false;

  constructor(ws: WebSocket, maxBufferedBytes: number, onDrain: () => void) {
    this.ws = ws;
    this.maxBufferedBytes = maxBufferedBytes;
    this.onDrain = onDrain;
  }

  get open(): boolean {
    return this.ws.readyState === WebSocket.OPEN;
  }

  send(bytes: Uint8Array): "sent" | "buffered" | "dropped" {
    if (!this.open || this.ws.bufferedAmount > this.maxBufferedBytes) return "dropped";
    // A copy: `ws` keeps the bytes until the kernel has them, the caller may reuse them at once.
    this.ws.send(Uint8Array.from(bytes), { binary: true }, () => {
      if (!this.full || this.ws.bufferedAmount > 0) return;
      this.full = false;
      if (this.open) this.onDrain();
    });
    if (this.ws.bufferedAmount === 0) return "sent";
    this.full = true;
    return "buffered";
  }

  get bufferedBytes(): number {
    return this.open ? this.ws.bufferedAmount : 0;
  }

  close(code: number, reason: string): void {
    if (this.open) this.ws.close(code, reason);
  }
}

export const startNodeHost: StartHost = async (app, options) => {
  const { onError } = options;
  const server = createServer({ maxHeaderSize: maxHeadBytes, keepAliveTimeout: keepAliveMs });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: options.maxFrameBytes, perMessageDeflate: false });

  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
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
    connection.on("error", gone).on("close", gone);
    settle(() => app.upgrade(request), onError)
      .then((answered) => {
        connection.off("close", gone);
        if (!("accept" in answered)) return refuse(request, connection, "refuse" in answered ? answered.refuse : answered, onError);
        sockets.handleUpgrade(incoming, connection, head, (ws) => serveSocket(ws, answered.accept, options.maxBufferedBytes, onError));
      })
      .catch((error) => {
        onError(error);
        connection.destroy();
      });
  });

  // Half-open connections are found because they do not answer a ping.
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

/** What the app answers; a 500 for what it throws. */
async function settle<Answer>(ask: () => Answer | Promise<Answer>, onError: (error: unknown) => void): Promise<Answer | HttpReply> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ClientGone)) onError(error);
    return failed;
  }
}

/** An upgrade is refused with an ordinary answer on the same connection. */
function refuse(request: NodeRequest, connection: Duplex, reply: HttpReply, onError: (error: unknown) => void): Promise<void> {
  const outgoing = new ServerResponse(request.incoming);
  outgoing.assignSocket(connection as never);
  outgoing.on("finish", () => connection.end());
  return send(request, outgoing, { ...reply, close: true }, onError);
}

async function send(request: NodeRequest, outgoing: ServerResponse, reply: HttpReply, onError: (error: unknown) => void): Promise<void> {
  const { body } = reply;
  try {
    for (const [name, value] of Object.entries(reply.headers)) checkHeader(name, value);
  } catch (error) {
    onError(error);
    return send(request, outgoing, failed, onError);
  }
  const pieces = isPieces(body) ? body[Symbol.asyncIterator]() : undefined;
  if (outgoing.destroyed) {
    await pieces?.return?.();
    return;
  }
  const tooLong = Number(request.incoming.headers["content-length"] ?? 0) > maxDiscardBytes;
  outgoing.writeHead(reply.status, {
    ...reply.headers,
    ...(body === undefined || pieces !== undefined ? {} : { "content-length": Buffer.byteLength(body as string | Uint8Array) }),
    ...(reply.close === true || tooLong ? { connection: "close" } : {}),
  });
  // A body that nobody read is thrown away, so that the answer is not lost to a reset.
  if (!tooLong) request.incoming.resume();
  if (pieces === undefined) outgoing.end(body);
  else if (request.method === "HEAD") {
    await pieces.return?.();
    outgoing.end();
  } else await pump(outgoing, pieces, onError);
}

/** As uWebSockets.js has it. */
const stalledMs = 12_000;

async function pump(
  outgoing: ServerResponse,
  iterator: AsyncIterator<string | Uint8Array>,
  onError: (error: unknown) => void,
): Promise<void> {
  let roomAgain: (() => void) | undefined;
  outgoing.on("drain", () => roomAgain?.());
  outgoing.on("close", () => {
    roomAgain?.();
    iterator.return?.().catch(onError);
  });
  try {
    for (let next = await iterator.next(); !next.done && !outgoing.destroyed; next = await iterator.next()) {
      if (next.value.length > 0 && !outgoing.write(next.value)) {
        // Who takes nothing for so long is gone, whatever its connection says.
        const stalled = setTimeout(() => outgoing.destroy(), stalledMs);
        await new Promise<void>((resolve) => (roomAgain = resolve));
        clearTimeout(stalled);
      }
      roomAgain = undefined;
    }
    outgoing.end();
  } catch (error) {
    onError(error);
    outgoing.destroy();
  }
}

function serveSocket(ws: WebSocket, handlers: SocketHandlers, maxBufferedBytes: number, onError: (error: unknown) => void): void {
  const guarded = (act: () => void) => {
    try {
      act();
    } catch (error) {
      onError(error);
      socket.close(1011, "internal error");
    }
  };
  const socket = new NodeSocket(ws, maxBufferedBytes, () => guarded(() => handlers.drain()));
  ws.binaryType = "nodebuffer";
  // After an error `ws` closes by itself: 1009 for a message that is too large, 1002 for a broken frame.
  ws.on("error", () => undefined);
  ws.on("message", (message: Buffer) => {
    if (socket.open) guarded(() => handlers.message(new Uint8Array(message)));
  });
  ws.on("close", (code) => guarded(() => handlers.close(code)));
  guarded(() => handlers.open(socket));
}
