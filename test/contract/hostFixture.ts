/** Starts a host whose app each test sets. Its connections end with the test. */
import { once } from "node:events";
import { afterEach, beforeEach } from "vitest";
import { WebSocket } from "ws";
import type { ByteAllowance, Host, HostApp, HttpReply, Socket, SocketHandlers, StartHost } from "../../server/edge/host/port.ts";
import { type RawConnection, type RawResponse, rawConnection } from "./rawHttp.ts";

export const maxFrameBytes = 64 * 1024;
export const maxBufferedBytes = 256 * 1024;
/** Allows every body of these tests. */
export const roomy: ByteAllowance = { take: () => true };
export const ok = (body: string): HttpReply => ({ status: 200, headers: { "content-type": "text/plain" }, body });

export interface HostFixture {
  host: Host;
  handle: HostApp["handle"];
  upgrade: HostApp["upgrade"];
  /** Errors that the host passed to `onError`. */
  errors: unknown[];
  connection(): Promise<RawConnection>;
  request(head: string, body?: string | Uint8Array): Promise<RawResponse>;
  socket(path?: string): Promise<WebSocket>;
  /** Accepts every upgrade. `made` resolves with the server's end of the first socket. */
  acceptAll(handlers?: Partial<SocketHandlers>): { made: Promise<Socket> };
}

export function hostFixture(start: StartHost): HostFixture {
  const open: { destroy(): void }[] = [];
  const fixture: HostFixture = {
    host: undefined as never,
    handle: () => ok(""),
    upgrade: () => ({ refuse: { status: 404, headers: {} } }),
    errors: [],
    async connection() {
      const made = await rawConnection(fixture.host.port);
      open.push(made);
      return made;
    },
    async request(head, body = "") {
      const client = await fixture.connection();
      client.write(`${head}\r\nhost: test\r\n${body.length > 0 ? `content-length: ${Buffer.byteLength(body)}\r\n` : ""}\r\n`);
      if (body.length > 0) client.write(body);
      return client.response({ head: head.startsWith("HEAD ") });
    },
    async socket(path = "/socket") {
      const client = new WebSocket(`ws://127.0.0.1:${fixture.host.port}${path}`);
      open.push({ destroy: () => client.terminate() });
      await once(client, "open");
      return client;
    },
    acceptAll(handlers = {}) {
      let resolve: (socket: Socket) => void;
      const made = new Promise<Socket>((done) => {
        resolve = done;
      });
      fixture.upgrade = () => ({
        accept: {
          open: (socket) => resolve(socket),
          message: () => undefined,
          control: () => undefined,
          drain: () => undefined,
          close: () => undefined,
          ...handlers,
        },
      });
      return { made };
    },
  };

  beforeEach(async () => {
    fixture.errors = [];
    fixture.handle = () => ok("");
    const app: HostApp = { handle: (request) => fixture.handle(request), upgrade: (request) => fixture.upgrade(request) };
    const onError = (error: unknown) => fixture.errors.push(error);
    fixture.host = await start(app, { host: "127.0.0.1", port: 0, maxFrameBytes, maxBufferedBytes, onError });
  });

  afterEach(async () => {
    for (const connection of open.splice(0)) connection.destroy();
    await fixture.host.close();
  });
  return fixture;
}
