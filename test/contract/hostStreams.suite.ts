/** Tests answers that a handler sends in pieces, on every host over real sockets. A part of host.suite.ts. */
import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import type { StartHost } from "../../server/edge/host/port.ts";
import { streamOf } from "../support/streamOf.ts";
import { hostFixture, ok } from "./hostFixture.ts";

export function hostStreamsSuite(name: string, start: StartHost): void {
  describe(`${name}: streams`, () => {
    const on = hostFixture(start);

    it("[HO13] pieces are flushed as they are made", async () => {
      let go: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      async function* pieces() {
        yield "first";
        await gate;
        yield "";
        yield new TextEncoder().encode(" second");
      }
      on.handle = () => ({ status: 200, headers: { "content-type": "text/event-stream" }, body: streamOf(pieces()) });
      const client = await on.connection();
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      let text = "";
      client.socket.on("data", (chunk) => {
        text += chunk;
      });
      await vi.waitFor(() => expect(text).toContain("first"), { timeout: 10_000 });
      go();
      expect((await client.response()).body.toString()).toBe("first second");
    });

    it("[HO13] a slow reader slows the producer and receives everything in order", async () => {
      const piece = 64 * 1024;
      const total = 1000;
      let produced = 0;
      async function* pieces() {
        for (; produced < total; produced += 1) yield Buffer.alloc(piece, produced % 251);
      }
      on.handle = () => ({ status: 200, headers: {}, body: streamOf(pieces()) });
      const client = await on.connection();
      client.socket.pause();
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      let before = -1;
      // The producer stops when the buffers of the kernel and of the host are full.
      await vi.waitFor(
        () => {
          const now = produced;
          const still = now === before && now > 0;
          before = now;
          expect(still).toBe(true);
        },
        { timeout: 20_000, interval: 200 },
      );
      expect(produced).toBeLessThan(total / 2);
      client.socket.resume();
      const { body } = await client.response();
      expect(body.length).toBe(piece * total);
      for (let at = 0; at < total; at += 1) expect(body[at * piece + (at % piece)]).toBe(at % 251);
    });

    it("[HO14] the source of a stream is closed once when the client leaves", async () => {
      let closed = 0;
      const left = new Promise<void>((resolve) => {
        on.handle = () => ({
          status: 200,
          headers: {},
          body: {
            open: (sink) => void sink.write(Buffer.from("x")),
            drain() {},
            close() {
              closed += 1;
              resolve();
            },
          },
        });
      });
      const client = await on.connection();
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      await once(client.socket, "data");
      client.destroy();
      await left;
      on.handle = () => ok("alive");
      expect((await on.request("GET / HTTP/1.1")).body.toString()).toBe("alive");
      expect([closed, on.errors]).toEqual([1, []]);
    });

    it("[SE60] a reader that reads again receives all that was written, without another write", async () => {
      const piece = Buffer.alloc(64 * 1024, "x");
      let written = 0;
      const isFull = new Promise<void>((resolve) => {
        on.handle = () => ({
          status: 200,
          headers: {},
          body: {
            open(sink) {
              do written += piece.length;
              while (sink.write(piece));
              resolve();
            },
            drain() {},
            close() {},
          },
        });
      });
      const client = await on.connection();
      client.socket.pause();
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      await isFull;
      let received = 0;
      client.socket.on("data", (chunk) => {
        received += chunk.toString("latin1").replace(/[^x]/g, "").length;
      });
      client.socket.resume();
      await vi.waitFor(() => expect(received).toBeGreaterThanOrEqual(written), { timeout: 10_000 });
      client.destroy();
    });

    it("[SE61] a stream that is cut disconnects a client that does not read, and closes its source", async () => {
      const piece = Buffer.alloc(64 * 1024, "x");
      let closed = 0;
      on.handle = () => ({
        status: 200,
        headers: {},
        body: {
          open(sink) {
            while (sink.write(piece));
            sink.cut();
            sink.cut();
            sink.end();
          },
          drain() {},
          close() {
            closed += 1;
          },
        },
      });
      const client = await on.connection();
      client.socket.pause();
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      await vi.waitFor(() => expect(closed).toBe(1), { timeout: 10_000 });
      client.socket.resume();
      await expect(client.response()).rejects.toThrow("the connection ended");
      expect(on.errors).toEqual([]);
    });

    it("[HO14] a stream that fails is cut, so that it does not look complete", async () => {
      async function* pieces() {
        yield "part";
        await Promise.resolve();
        throw new Error("broken source");
      }
      on.handle = () => ({ status: 200, headers: {}, body: streamOf(pieces()) });
      const client = await on.connection();
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      await expect(client.response()).rejects.toThrow("the connection ended");
      expect(on.errors).toHaveLength(1);
    });

    it("[HO10] HEAD of a stream answers without reading it", async () => {
      const [opened, closed] = [vi.fn(), vi.fn()];
      on.handle = () => ({ status: 200, headers: { "x-kind": "stream" }, body: { open: opened, drain() {}, close: closed } });
      expect((await on.request("HEAD / HTTP/1.1")).headers.get("x-kind")).toBe("stream");
      expect(opened).not.toHaveBeenCalled();
      expect(closed).toHaveBeenCalledTimes(1);
    });
  });
}
