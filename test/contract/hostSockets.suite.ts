/** Tests the WebSockets of every host: upgrades, messages, pings and closes. A part of host.suite.ts. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { type StartHost, socketLingerMs } from "../../server/edge/host/port.ts";
import { hostFixture, maxBufferedBytes, maxFrameBytes, ok } from "./hostFixture.ts";

export function hostSocketsSuite(name: string, start: StartHost): void {
  describe(`${name}: sockets`, () => {
    const on = hostFixture(start);

    describe("sockets", () => {
      it("[HO15] an upgrade sees path, query and headers, may wait, and is accepted", async () => {
        const opened: string[] = [];
        on.upgrade = async (request) => {
          await new Promise((resolve) => setImmediate(resolve));
          opened.push(`${request.method} ${request.path} ${request.query} ${request.header("host")} ${request.remoteAddress}`);
          return {
            accept: {
              open: () => undefined,
              message: () => undefined,
              control: () => undefined,
              drain: () => undefined,
              close: () => undefined,
            },
          };
        };
        await on.socket("/collab/art_1?ticket=t");
        expect(opened).toEqual([`GET /collab/art_1 ticket=t 127.0.0.1:${on.host.port} 127.0.0.1`]);
      });

      it("[HO15] a refused upgrade receives an ordinary answer", async () => {
        on.upgrade = async () => ({ refuse: { status: 401, headers: { "x-why": "no credential" }, body: "refused" } });
        const client = new WebSocket(`ws://127.0.0.1:${on.host.port}/`);
        const [, response] = await once(client, "unexpected-response");
        let body = "";
        for await (const chunk of response) body += chunk;
        expect([response.statusCode, response.headers["x-why"], body]).toEqual([401, "no credential", "refused"]);
      });

      it("[HO15] an error thrown by an upgrade is a 500", async () => {
        on.upgrade = async () => {
          throw new Error("upgrade bug");
        };
        const client = new WebSocket(`ws://127.0.0.1:${on.host.port}/`);
        const [, response] = await once(client, "unexpected-response");
        response.resume();
        expect(response.statusCode).toBe(500);
        expect(on.errors).toHaveLength(1);
      });

      it("[HO38] a socket that opens stays open, whatever memory its handler takes", async () => {
        const taken: Buffer[] = [];
        // Blocks of the sizes that the library frees when it turns a request into a socket.
        const sizes = Array.from({ length: 64 }, (_, at) => 8 * (at + 1));
        const open = () => {
          for (const size of sizes) for (let copies = 0; copies < 4; copies += 1) taken.push(Buffer.allocUnsafeSlow(size).fill(0x10));
        };
        const close = vi.fn();
        const received: Uint8Array[] = [];
        const message = (bytes: Uint8Array) => received.push(bytes);
        const accept = { open, close, drain: () => undefined, control: () => undefined, message };
        // Accepts later, as the server does after it has checked the credential. The library treats an upgrade inside its
        // callback differently.
        on.upgrade = () => new Promise((resolve) => setImmediate(resolve, { accept }));
        for (let at = 1; at <= 20; at += 1) {
          const client = await on.socket();
          client.send("typed");
          await vi.waitFor(() => expect(received.length + close.mock.calls.length).toBe(at), { timeout: 10_000 });
        }
        expect(close).not.toHaveBeenCalled();
      });

      it("[HO38] a request without `Connection: upgrade` is no upgrade", async () => {
        const upgrade = vi.fn(on.upgrade);
        on.upgrade = upgrade;
        on.handle = async () => ok("served");
        const client = await on.connection();
        const head = { host: "test", connection: "close", upgrade: "websocket", "sec-websocket-version": "13" };
        const lines = Object.entries({ ...head, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" }).map(
          ([field, value]) => `${field}: ${value}`,
        );
        client.write(`GET /collab/art_1 HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
        expect((await client.response()).status).toBe(200);
        expect(upgrade).not.toHaveBeenCalled();
      });

      it("[HO16] messages arrive whole and in order, and their bytes belong to the receiver", async () => {
        const messages: Uint8Array[] = [];
        on.acceptAll({ message: (bytes) => messages.push(bytes) });
        const client = await on.socket();
        client.send(Buffer.from([1, 2, 3]));
        client.send("frag", { fin: false });
        client.send("mènts", { fin: true });
        client.send(Buffer.alloc(maxFrameBytes, 7));
        client.send(Buffer.alloc(0));
        await vi.waitFor(() => expect(messages).toHaveLength(4), { timeout: 10_000 });
        expect(messages[0]).toEqual(new Uint8Array([1, 2, 3]));
        expect(Buffer.from(messages[1] as Uint8Array).toString()).toBe("fragmènts");
        expect(messages[2]).toEqual(new Uint8Array(maxFrameBytes).fill(7));
        expect(messages[3]).toEqual(new Uint8Array(0));
      });

      it("[HO16] bytes given to send may be reused at once", async () => {
        const { made } = on.acceptAll();
        const client = await on.socket();
        const received: Buffer[] = [];
        client.on("message", (data: Buffer) => received.push(data));
        const server = await made;
        const bytes = new Uint8Array(1000);
        for (let at = 0; at < 50; at += 1) server.send(bytes.fill(at));
        await vi.waitFor(() => expect(received).toHaveLength(50), { timeout: 10_000 });
        for (const [at, data] of received.entries()) expect(data.every((byte) => byte === at)).toBe(true);
      });

      it("[HO17] a message that is too large closes the socket with 1009, whole or in fragments", async () => {
        for (const fragments of [1, 2]) {
          const message = vi.fn();
          const closed = new Promise<number>((resolve) => on.acceptAll({ message, close: resolve }));
          const client = await on.socket();
          const half = Buffer.alloc((maxFrameBytes + 2) / fragments);
          for (let at = 1; at <= fragments; at += 1) client.send(half, { fin: at === fragments });
          const [code] = await once(client, "close");
          expect(code).toBe(1009);
          await closed;
          expect(message).not.toHaveBeenCalled();
        }
      });

      it("[HO18] a send above the buffer limit is dropped and reported, and drain signals new room", async () => {
        const drained = vi.fn();
        const { made } = on.acceptAll({ drain: drained });
        const client = await on.socket();
        const server = await made;
        client.pause();
        const bytes = new Uint8Array(32 * 1024);
        const outcomes: string[] = [];
        while (outcomes.at(-1) !== "dropped" && outcomes.length < 10_000) outcomes.push(server.send(bytes));
        expect(outcomes.at(-1)).toBe("dropped");
        expect(outcomes).toContain("buffered");
        expect(server.bufferedBytes).toBeGreaterThan(maxBufferedBytes);
        let received = 0;
        client.on("message", () => {
          received += 1;
        });
        client.resume();
        await vi.waitFor(() => expect(received).toBe(outcomes.length - 1), { timeout: 20_000 });
        await vi.waitFor(() => expect(drained).toHaveBeenCalled(), { timeout: 10_000 });
        expect(server.bufferedBytes).toBe(0);
        expect(server.send(bytes)).not.toBe("dropped");
      });

      it("[HO39] pings are answered, and pings and pongs are reported with their size", async () => {
        const sizes: number[] = [];
        on.acceptAll({ control: (bytes) => sizes.push(bytes) });
        const client = await on.socket();
        const pongs: number[] = [];
        client.on("pong", (payload: Buffer) => pongs.push(payload.length));
        client.ping(Buffer.alloc(7));
        client.pong(Buffer.alloc(125));
        client.ping();
        await vi.waitFor(() => expect(sizes).toEqual([7, 125, 0]), { timeout: 10_000 });
        await vi.waitFor(() => expect(pongs).toEqual([7, 0]), { timeout: 10_000 });
      });

      it("[HO39] a handler may close its socket in a flood of pings; no later ping is answered or reported", async () => {
        let controls = 0;
        const { made } = on.acceptAll({
          control() {
            controls += 1;
            if (controls === 1000) server.close(4429, "too many frames");
          },
        });
        const [client, other] = [await on.socket(), await on.socket()];
        const server = await made;
        let pongs = 0;
        client.on("pong", () => {
          pongs += 1;
        });
        for (let sent = 0; sent < 20_000; sent += 1) client.ping(Buffer.alloc(125));
        const [code, reason] = await once(client, "close");
        expect([code, String(reason), controls, pongs]).toEqual([4429, "too many frames", 1000, 1000]);
        expect(other.readyState).toBe(WebSocket.OPEN);
      });

      it("[HO40] answers to pings that the client does not read count as buffered bytes, and drain follows", async () => {
        const drained = vi.fn();
        const { made } = on.acceptAll({ drain: drained });
        const client = await on.socket();
        const server = await made;
        let pongs = 0;
        client.on("pong", () => {
          pongs += 1;
        });
        client.pause();
        let sent = 0;
        while (server.bufferedBytes <= maxBufferedBytes && sent < 1_000_000) {
          for (let times = 0; times < 1000; times += 1) client.ping(Buffer.alloc(125));
          sent += 1000;
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect(server.bufferedBytes).toBeGreaterThan(maxBufferedBytes);
        client.resume();
        await vi.waitFor(() => expect(pongs).toBe(sent), { timeout: 20_000 });
        await vi.waitFor(() => expect(drained).toHaveBeenCalled(), { timeout: 10_000 });
        expect(server.bufferedBytes).toBe(0);
      });

      it("[HO19] the server's close code and reason reach the client, and each close is reported once", async () => {
        let inside = false;
        const closes: [number, boolean][] = [];
        const { made } = on.acceptAll({ close: (code) => closes.push([code, inside]) });
        const client = await on.socket();
        const server = await made;
        inside = true;
        server.close(4401, "token expired");
        inside = false;
        const [code, reason] = await once(client, "close");
        expect([code, String(reason)]).toEqual([4401, "token expired"]);
        await vi.waitFor(() => expect(closes).toEqual([[4401, false]]), { timeout: 10_000 });
        expect(server.send(new Uint8Array(1))).toBe("dropped");
        expect(server.bufferedBytes).toBe(0);
        server.close(1000, "again");
        expect(closes).toHaveLength(1);
      });

      it("[HO19] a client that vanishes is reported as closed", async () => {
        const closed = new Promise<number>((resolve) => on.acceptAll({ close: resolve }));
        const client = await on.socket();
        client.terminate();
        expect(await closed).toBe(1006);
      });

      it("[HO11] an error thrown by a socket's handler closes only that socket, with 1011", async () => {
        on.acceptAll({
          message: () => {
            throw new Error("message bug");
          },
        });
        const [client, other] = [await on.socket(), await on.socket()];
        client.send("x");
        const [code] = await once(client, "close");
        expect(code).toBe(1011);
        expect(on.errors).toHaveLength(1);
        expect(other.readyState).toBe(WebSocket.OPEN);
      });
    });

    describe("clients that do not end", () => {
      const upgradeRequest = `GET /socket HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`;

      it("[HO22] a client that keeps sending after the server's close is disconnected", { timeout: 2 * socketLingerMs }, async () => {
        const message = vi.fn();
        const { made } = on.acceptAll({ message });
        const client = connect({ port: on.host.port, host: "127.0.0.1", allowHalfOpen: true });
        client.on("error", () => undefined);
        client.write(upgradeRequest);
        (await made).close(4401, "no");
        const received: Buffer[] = [];
        client.on("data", (bytes: Buffer) => received.push(bytes));
        // Send empty binary frames with the mask 0.
        const sending = setInterval(() => client.write(Buffer.from([0x82, 0x80, 0, 0, 0, 0])), 100);
        await vi
          .waitFor(() => expect(client.destroyed).toBe(true), { timeout: socketLingerMs, interval: 50 })
          .finally(() => clearInterval(sending));
        // The bytes of the close frame: its length, the code and the reason.
        expect(Buffer.concat(received).includes(Buffer.from([0x88, 4, 0x11, 0x31, 0x6e, 0x6f]))).toBe(true);
        expect(message).not.toHaveBeenCalled();
      });

      it("[HO23] a client that leaves during its upgrade aborts the signal, and its socket never opens", async () => {
        const open = vi.fn();
        const close = vi.fn();
        let answer: () => void = () => undefined;
        const signals: AbortSignal[] = [];
        on.upgrade = async (request) => {
          signals.push(request.signal);
          await new Promise<void>((resolve) => (answer = resolve));
          return { accept: { open, message: () => undefined, control: () => undefined, drain: () => undefined, close } };
        };
        const client = connect({ port: on.host.port, host: "127.0.0.1" });
        client.write(upgradeRequest);
        await vi.waitFor(() => expect(signals).toHaveLength(1), { timeout: 10_000 });
        client.destroy();
        await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), { timeout: 10_000 });
        answer();
        // A later socket is served, so the answer to the first socket was processed.
        const { made } = on.acceptAll();
        await on.socket();
        await made;
        expect([open, close].map((called) => called.mock.calls)).toEqual([[], []]);
        expect(on.errors).toEqual([]);
      });
    });
  });
}
