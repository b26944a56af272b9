/**
 * A webhook receiver that a test controls: a real HTTPS server that keeps the raw requests and sends the configured
 * answers, including broken ones. It verifies nothing itself.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Duplex, pipeline, Readable } from "node:stream";
import { type CertificateAuthority, createCertificateAuthority } from "./certificateAuthority.ts";

export interface ReceivedRequest {
  /** Starts at 1, in the order in which the requests were complete. */
  readonly n: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly receivedAtMs: number;
}

export type ReceiverAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Uint8Array }
  /** No answer until the receiver closes. */
  | "hang"
  /** The connection is reset. */
  | "reset"
  /** 200, then one byte from time to time, without end. */
  | "drip"
  /** 200, then as much as the sender reads. */
  | "flood";

export interface Receiver {
  /** `https://127.0.0.1:<port>/hook` */
  readonly url: string;
  readonly port: number;
  /** Authority that signed the receiver's certificate. */
  readonly authority: CertificateAuthority;
  /** All requests so far. The list grows. */
  readonly received: readonly ReceivedRequest[];
  /** Connections that are open now, and the maximum so far. */
  readonly connections: { readonly open: number; readonly most: number };
  /** Resolves with the first request that fits, whether it has arrived or is still to come. */
  waitFor(fits: (request: ReceivedRequest) => boolean): Promise<ReceivedRequest>;
  /** Resolves when this many requests have arrived. */
  waitForCount(count: number): Promise<readonly ReceivedRequest[]>;
  close(): Promise<void>;
}

export async function startReceiver({
  answer = () => ({ status: 204 }),
  hosts = ["127.0.0.1", "localhost"],
  listen = { host: "127.0.0.1", port: 0 },
  onConnection,
  authority: givenAuthority,
}: {
  answer?: (request: ReceivedRequest, n: number) => ReceiverAnswer | Promise<ReceiverAnswer>;
  /** Hosts of the certificate; the first one is the host of `url`. */
  hosts?: readonly string[];
  listen?: { readonly host: string; readonly port: number };
  /** Called when a connection opens, before TLS. */
  onConnection?: (connection: { readonly localAddress?: string | undefined }) => void;
  /** By default the receiver creates its own authority, which is removed on close. */
  authority?: CertificateAuthority;
} = {}): Promise<Receiver> {
  const authority = givenAuthority ?? (await createCertificateAuthority());
  const received: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Set<Duplex>();
  const connections = { open: 0, most: 0 };

  const server = createServer(await authority.issue(hosts), (message, response) => void serve(message, response));
  server.on("connection", (socket) => {
    onConnection?.(socket as Socket);
    sockets.add(socket);
    connections.open += 1;
    connections.most = Math.max(connections.most, connections.open);
    socket.on("error", () => {});
    socket.once("close", () => {
      sockets.delete(socket);
      connections.open -= 1;
    });
  });
  server.on("tlsClientError", () => {});

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    let request: ReceivedRequest;
    try {
      const pieces: Buffer[] = [];
      for await (const piece of message) pieces.push(piece as Buffer);
      request = {
        n: received.length + 1,
        method: message.method ?? "",
        path: message.url ?? "",
        headers: message.headers as Record<string, string>,
        body: Buffer.concat(pieces),
        receivedAtMs: Date.now(),
      };
    } catch {
      return; // The sender disconnected during the request, so nothing was received.
    }
    received.push(request);
    for (const look of waiting) look();
    act(await answer(request, request.n), message, response);
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen.port, listen.host, resolve);
  });
  const { port } = server.address() as AddressInfo;

  function waitUntil<Value>(look: () => Value | undefined): Promise<Value> {
    return new Promise((resolve) => {
      const attempt = (): void => {
        const value = look();
        if (value === undefined) return;
        waiting.delete(attempt);
        resolve(value);
      };
      waiting.add(attempt);
      attempt();
    });
  }

  return {
    url: `https://${hosts[0]}:${port}/hook`,
    port,
    authority,
    received,
    connections,
    waitFor: (fits) => waitUntil(() => received.find(fits)),
    waitForCount: (count) => waitUntil(() => (received.length >= count ? received : undefined)),
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      if (givenAuthority === undefined) await authority.remove();
    },
  };
}

function act(answer: ReceiverAnswer, message: IncomingMessage, response: ServerResponse): void {
  if (answer === "hang") return;
  if (answer === "reset") return void message.socket.destroy();
  if (answer === "drip") {
    response.writeHead(200);
    const drip = setInterval(() => response.write("."), 50);
    response.once("close", () => clearInterval(drip));
    return;
  }
  if (answer === "flood") {
    response.writeHead(200);
    const piece = Buffer.alloc(64 * 1024, "x");
    // A pipeline waits for the reader and stops when the reader leaves. It then ends with an error by design.
    pipeline(
      new Readable({
        read() {
          this.push(piece);
        },
      }),
      response,
      () => {},
    );
    return;
  }
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
}
