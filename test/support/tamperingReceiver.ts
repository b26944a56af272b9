/**
 * startTamperingReceiver starts an honest HTTPS server on loopback behind a TCP proxy that breaks the connection on
 * request.
 *
 * The server has a valid certificate, so only the bytes that the proxy adds, or its reset, are wrong. The proxy can
 * break the connection in the same segment as the last handshake flight, or later, when the test calls `tamper`.
 */
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { SecureVersion } from "node:tls";
import type { CertificateAuthority } from "./certificateAuthority.ts";

/** Bytes that the proxy sends to the client unchanged, or a TCP reset. */
export type Tampering = Uint8Array | "reset";

export interface TamperingReceiverOptions {
  readonly authority: CertificateAuthority;
  readonly version: Extract<SecureVersion, "TLSv1.2" | "TLSv1.3">;
  readonly tampering: Tampering;
  /** Tampers directly after this flight of the server. Otherwise only `tamper` does. */
  readonly afterFlight?: number | undefined;
}

export interface TamperingReceiver {
  readonly port: number;
  /** Connections from clients to the proxy. */
  readonly openConnections: number;
  /** Breaks every open connection now. */
  tamper(): void;
  close(): Promise<void>;
}

export async function startTamperingReceiver(options: TamperingReceiverOptions): Promise<TamperingReceiver> {
  const { authority, version, tampering, afterFlight } = options;
  const certificate = await authority.issue(["127.0.0.1"]);
  const server = createHttpsServer({ ...certificate, minVersion: version, maxVersion: version }, (_request, response) =>
    response.end("thanks"),
  );
  server.on("tlsClientError", () => {});
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();

  function tamper(client: Socket, flight?: Uint8Array): void {
    if (tampering === "reset") {
      const reset = (): void => void client.resetAndDestroy();
      if (flight === undefined) reset();
      else client.write(flight, reset);
    } else {
      // Use one write, so that the client reads the flight and the added bytes together.
      client.write(flight === undefined ? tampering : Buffer.concat([flight, tampering]));
    }
  }

  const proxy = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: "127.0.0.1", port: portOf(server), noDelay: true });
    track(clients, client);
    track(upstreams, upstream);
    let flights = 0;
    let isClientsTurn = true;
    client.on("data", (bytes) => {
      isClientsTurn = true;
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (isClientsTurn) flights += 1;
      const isTampered = isClientsTurn && flights === afterFlight;
      isClientsTurn = false;
      if (isTampered) tamper(client, bytes);
      else client.write(bytes);
    });
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.end());
  });
  await listen(server);
  await listen(proxy);

  return {
    port: portOf(proxy),
    get openConnections() {
      return clients.size;
    },
    tamper() {
      for (const client of clients) tamper(client);
    },
    async close() {
      for (const socket of [...clients, ...upstreams]) socket.destroy();
      await Promise.all([server, proxy].map((each) => new Promise((closed) => each.close(closed))));
    },
  };
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on("error", () => {});
  socket.once("close", () => sockets.delete(socket));
}

const listen = (server: Server) => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
