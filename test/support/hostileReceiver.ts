/**
 * A server on loopback, HTTPS or HTTP. It answers every request with a head and then repeats one piece of text without
 * end, as fast as the client reads. It counts the written bytes, including those that the kernel still buffers.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { CertificateAuthority } from "./certificateAuthority.ts";

export interface EndlessAnswer {
  readonly start: string;
  /** Sent repeatedly until the connection ends. */
  readonly repeated: string;
}

export interface HostileReceiver {
  readonly port: number;
  /** Bytes passed to the kernel over all connections so far. */
  readonly sentBytes: number;
  readonly openConnections: number;
  close(): Promise<void>;
}

/** Answers that are valid so far and never reach their body. */
export const endlessAnswers: Readonly<Record<string, EndlessAnswer>> = {
  "an endless reason phrase": { start: "HTTP/1.1 200 ", repeated: "so very fine ".repeat(5000) },
  "an endless header field": { start: "HTTP/1.1 200 OK\r\nx-long: ", repeated: "long ".repeat(13_000) },
  "103 answers without end": { start: "", repeated: "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(1500) },
  "an endless chunk extension": { start: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;", repeated: "x=y;".repeat(16_000) },
};

/** Uses TLS if an authority is given. */
export async function startHostileReceiver(answer: () => EndlessAnswer, authority?: CertificateAuthority): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  let endedBytes = 0;
  const serve = (socket: Socket) => void socket.on("error", () => {}).once("data", () => flood(socket, answer()));
  const server = authority === undefined ? createServer(serve) : createTlsServer(await authority.issue(["127.0.0.1"]), serve);
  server.on("connection", (tcp: Socket) => {
    sockets.add(tcp);
    tcp.on("error", () => {});
    tcp.once("close", () => {
      sockets.delete(tcp);
      endedBytes += tcp.bytesWritten;
    });
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));

  return {
    port: (server.address() as AddressInfo).port,
    get sentBytes() {
      return [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, endedBytes);
    },
    get openConnections() {
      return sockets.size;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function flood(socket: Socket, { start, repeated }: EndlessAnswer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(repeated));
  };
  socket.on("drain", more);
  socket.write(start);
  more();
}
