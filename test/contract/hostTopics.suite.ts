/** Tests what every host publishes to the sockets of a topic. A part of host.suite.ts. */
import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import type { Socket, StartHost } from "../../server/edge/host/port.ts";
import { hostFixture, maxBufferedBytes } from "./hostFixture.ts";

export function hostTopicsSuite(name: string, start: StartHost): void {
  describe(`${name}: topics`, () => {
    const on = hostFixture(start);

    it("[RT93] what is sent and what is published arrive in the order of the calls", async () => {
      const servers: Socket[] = [];
      on.acceptAll({ open: (socket) => servers.push(socket) });
      const received: string[][] = [];
      const closed: Promise<unknown>[] = [];
      for (let at = 0; at < 4; at += 1) {
        const client = await on.socket();
        const messages: string[] = [];
        received.push(messages);
        client.on("message", (data: Buffer) => messages.push(`${data.toString("latin1", 0, 12).trimEnd()} of ${data.length}`));
        closed.push(once(client, "close"));
      }
      await vi.waitFor(() => expect(servers).toHaveLength(4), { timeout: 10_000 });
      const topics = ["art_1", "art_2"];
      const expected: string[][] = servers.map(() => []);
      const subscribed = servers.map(() => new Set<string>());
      // A fixed sequence of pseudo-random numbers (mulberry32), so that a failure can be repeated.
      let seed = 93;
      const random = (below: number) => {
        seed = (seed + 0x6d2b79f5) | 0;
        let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
      };
      const bytes = new Uint8Array(50_000);
      for (let number = 0; number < 3000; number += 1) {
        const at = random(4);
        const topic = topics[random(2)] as string;
        // Large messages take another path in the library than small ones.
        const length = random(20) === 0 ? 12 + random(40_000) : 12 + random(100);
        const message = bytes.subarray(0, length);
        Buffer.from(message.buffer).write(`${number}`.padEnd(12), 0, "latin1");
        const kind = random(12);
        if (kind === 0) {
          servers[at]?.subscribe(topic);
          subscribed[at]?.add(topic);
        } else if (kind === 1) {
          servers[at]?.unsubscribe(topic);
          subscribed[at]?.delete(topic);
        } else if (kind === 2) {
          await new Promise((resolve) => setImmediate(resolve));
        } else if (kind < 6) {
          servers[at]?.send(message);
          expected[at]?.push(`${number} of ${length}`);
        } else {
          on.host.publish(topic, message);
          for (const [each, topicsOfSocket] of subscribed.entries()) {
            if (topicsOfSocket.has(topic)) expected[each]?.push(`${number} of ${length}`);
          }
        }
      }
      // The close follows what was published in the same turn.
      for (const [at, server] of servers.entries()) {
        server.subscribe("art_1");
        expected[at]?.push("last of 12");
      }
      on.host.publish("art_1", Buffer.from("last".padEnd(12)));
      for (const server of servers) server.close(1012, "restart");
      on.host.publish("art_1", Buffer.from("too late".padEnd(12)));
      await Promise.all(closed);
      expect(received).toEqual(expected);
    });

    it("[RT94] a publication skips no socket, however far it is behind, and drain signals new room", async () => {
      const drained = vi.fn();
      const servers: Socket[] = [];
      on.acceptAll({ open: (socket) => servers.push(socket), drain: drained });
      const [slow, quick] = [await on.socket(), await on.socket()];
      await vi.waitFor(() => expect(servers).toHaveLength(2), { timeout: 10_000 });
      const received: number[][] = [[], []];
      for (const [at, client] of [slow, quick].entries()) {
        client.on("message", (data: Buffer) => received[at]?.push(data.readUInt32BE()));
      }
      for (const server of servers) server.subscribe("art_1");
      slow.pause();
      const message = Buffer.alloc(8 * 1024);
      let published = 0;
      // More than the kernel buffers for both ends of a loopback connection, and several times the limit of `send`.
      while ((servers[0]?.bufferedBytes ?? 0) < 4 * maxBufferedBytes) {
        message.writeUInt32BE(published);
        on.host.publish("art_1", message);
        published += 1;
        if (published % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(servers[0]?.send(message)).toBe("dropped");
      expect(servers[1]?.bufferedBytes).toBeLessThan(maxBufferedBytes);
      slow.resume();
      const all = Array.from({ length: published }, (_, number) => number);
      await vi.waitFor(() => expect(received[0]).toHaveLength(published), { timeout: 20_000 });
      await vi.waitFor(() => expect(received[1]).toHaveLength(published), { timeout: 20_000 });
      expect(received).toEqual([all, all]);
      await vi.waitFor(() => expect(drained).toHaveBeenCalled(), { timeout: 10_000 });
      expect(servers[0]?.bufferedBytes).toBe(0);
    });

    it("[RT94] a closed or lost socket of a topic gets nothing more, and the others get everything", async () => {
      const servers: Socket[] = [];
      const lost = vi.fn();
      on.acceptAll({ open: (socket) => servers.push(socket), close: lost });
      const clients = [await on.socket(), await on.socket(), await on.socket()];
      await vi.waitFor(() => expect(servers).toHaveLength(3), { timeout: 10_000 });
      const received: string[][] = clients.map(() => []);
      for (const [at, client] of clients.entries()) client.on("message", (data: Buffer) => received[at]?.push(data.toString()));
      for (const server of servers) server.subscribe("art_1");
      on.host.publish("art_1", Buffer.from("to all"));
      await vi.waitFor(() => expect(received).toEqual([["to all"], ["to all"], ["to all"]]), { timeout: 10_000 });
      clients[0]?.terminate();
      servers[1]?.close(4401, "token expired");
      on.host.publish("art_1", Buffer.from("to some"));
      await vi.waitFor(() => expect(lost).toHaveBeenCalledTimes(2), { timeout: 10_000 });
      servers[0]?.subscribe("art_1");
      servers[1]?.subscribe("art_1");
      servers[1]?.unsubscribe("art_1");
      on.host.publish("art_1", Buffer.from("to the last"));
      on.host.publish("art_2", Buffer.from("to nobody"));
      await vi.waitFor(() => expect(received[2]).toEqual(["to all", "to some", "to the last"]), { timeout: 10_000 });
      expect(received[1]).toEqual(["to all"]);
    });
  });
}
