/** Tests what every host buffers of bodies that are never read, or not read yet. A part of host.suite.ts. */
import { describe, expect, it, vi } from "vitest";
import type { ByteAllowance, StartHost } from "../../server/edge/host/port.ts";
import { hostFixture, ok } from "./hostFixture.ts";

const KiB = 1024;
const sentBytes = 20 * 1024 * KiB;

export function hostBodiesSuite(name: string, start: StartHost): void {
  describe(`${name}: bodies in memory`, () => {
    const on = hostFixture(start);

    function counting(maxBytes = Number.POSITIVE_INFINITY): ByteAllowance & { taken: number } {
      const allowance = {
        taken: 0,
        take(bytes: number) {
          if (allowance.taken + bytes > maxBytes) return false;
          allowance.taken += bytes;
          return true;
        },
      };
      return allowance;
    }

    it("[HO34] an unread body pauses its connection, and arrives whole once it is read", async () => {
      let read: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        read = resolve;
      });
      const allowance = counting();
      on.handle = async (request) => {
        const body = request.body(allowance);
        await gate;
        return ok(String((await body.read(sentBytes)).length));
      };
      const client = await on.connection();
      client.write(`POST / HTTP/1.1\r\nhost: test\r\ncontent-length: ${sentBytes}\r\n\r\n`);
      for (let at = 0; at < sentBytes; at += 256 * KiB) client.write(Buffer.alloc(256 * KiB, "x"));
      // The client stops when the buffers of the kernel are full.
      let before = -1;
      await vi.waitFor(
        () => {
          const now = client.socket.writableLength;
          const isStill = now === before && now < sentBytes;
          before = now;
          expect(isStill).toBe(true);
        },
        { timeout: 20_000, interval: 200 },
      );
      expect(client.socket.writableLength).toBeGreaterThan(0);
      expect(allowance.taken).toBeLessThan(1024 * KiB);
      read();
      expect((await client.response()).body.toString()).toBe(String(sentBytes));
    });

    it("[HO35] an answer without reading discards the body, and the connection stays open", async () => {
      const allowance = counting();
      on.handle = async (request) => {
        request.body(allowance);
        await Promise.resolve();
        return { status: 401, headers: {}, body: "no credential" };
      };
      const client = await on.connection();
      client.write(`POST / HTTP/1.1\r\nhost: test\r\ncontent-length: ${sentBytes}\r\n\r\n`);
      expect((await client.response()).status).toBe(401);
      client.write(Buffer.alloc(sentBytes));
      on.handle = () => ok("next");
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      expect((await client.response()).body.toString()).toBe("next");
      expect(allowance.taken).toBe(0);
    });

    it("[HO35] an answer during a paused body discards the rest of the body", async () => {
      let answerNow: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        answerNow = resolve;
      });
      on.handle = async (request) => {
        request.body(counting());
        await gate;
        return { status: 401, headers: {}, body: "no credential" };
      };
      const client = await on.connection();
      client.write(`POST / HTTP/1.1\r\nhost: test\r\ncontent-length: ${sentBytes}\r\n\r\n`);
      client.write(Buffer.alloc(sentBytes));
      await on.request("GET / HTTP/1.0").catch(() => undefined);
      answerNow();
      expect((await client.response()).status).toBe(401);
      on.handle = () => ok("next");
      client.write("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
      expect((await client.response()).body.toString()).toBe("next");
    });

    it("[HO36] a body ends when its allowance is used up, and the refusal reaches the client", async () => {
      const allowance = counting(100 * KiB);
      on.handle = async (request) => {
        const outcome = await request.body(allowance).read(sentBytes);
        return { status: outcome === "no_room" ? 503 : 200, headers: {}, body: String(outcome) };
      };
      for (const framing of [`content-length: ${sentBytes}`, "transfer-encoding: chunked"]) {
        const client = await on.connection();
        client.write(`POST / HTTP/1.1\r\nhost: test\r\n${framing}\r\n\r\n`);
        const piece = Buffer.alloc(1024 * KiB, "x");
        client.write(framing.startsWith("content") ? piece : Buffer.concat([Buffer.from("100000\r\n"), piece, Buffer.from("\r\n")]));
        expect((await client.response()).status).toBe(503);
        expect(allowance.taken).toBeLessThanOrEqual(100 * KiB);
      }
    });
  });
}
