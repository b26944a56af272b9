/**
 * A webhook receiver under the test's control: a real HTTPS server that keeps what came, byte for byte, and answers
 * as it is told, badly too. It verifies nothing by itself.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Duplex, pipeline, Readable } from "node:stream";
import { type CertificateAuthority, createCertificateAuthority } from "./certificateAuthority.ts";

export interface ReceivedRequest {
  /** From 1, in the order in which the requests were complete. */
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
  /** The connection is cut. */
  | "reset"
  /** 200, then a byte now and then, for ever. */
  | "drip"
  /** 200, then as much as the other side takes. */
  | "flood";

export interface Receiver {
  /** `https://127.0.0.1:<port>/hook` */
  readonly url: string;
  readonly port: number;
  /** Signed the receiver's certificate. */
  readonly authority: CertificateAuthority;
  /** Everything so far; grows. */
  readonly received: readonly ReceivedRequest[];
  /** Connections open now, and the most that ever were. */
  readonly connections: { readonly open: number; readonly most: number };
  /** Resolves with the first request that fits, of those to come and those already there. */
  waitFor(fits: (request: ReceivedRequest) => boolean): Promise<ReceivedRequest>;
  /** Resolves when so many requests are there. */
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
  /** What the certificate is good for; the first is the host of `url`. */
  hosts?: readonly string[];
  listen?: { readonly host: string; readonly port: number };
  /** Somebody connected; TLS comes after. */
  onConnection?: (connection: { readonly localAddress?: string | undefined }) => void;
  /** Default: one of its own, removed at close. */
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
      return; // The sender went away in mid-request: nothing was received.
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
    // A pipeline waits for the reader and stops when the reader has gone; it ends in an error by design.
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
