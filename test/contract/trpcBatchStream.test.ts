/**
 * Tests batches that a stock `httpBatchStreamLink` sends as POST: the calls share one body, and each answer is one
 * line.
 */
import { createTRPCClient, httpBatchStreamLink } from "@trpc/client";
import { describe, expect, it } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import type { AppRouter } from "../../api/derive/trpc.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import type { StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { rawConnection } from "./rawHttp.ts";
import { articleId, credentials, sampleReply, useSurface } from "./surfaceFixture.ts";

const hosts: readonly (readonly [string, StartHost])[] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
];
const edited = sampleReply(contract.content.edit).body as Record<string, unknown>;

for (const [name, startHost] of hosts) {
  describe(`${name}: tRPC batch streams`, () => {
    const surface = useSurface({ startHost });
    const client = () =>
      createTRPCClient<AppRouter>({ links: [httpBatchStreamLink({ url: `${surface.origin}/trpc`, headers: credentials.session })] });

    for (const [size, bytes] of [
      ["a few bytes", 10],
      ["1 MiB", 1024 * 1024],
    ] as const) {
      it(`[API50] calls of a batch stream that share a body of ${size} are answered and free its bytes`, async () => {
        const contents: number[] = [];
        surface.on("content.edit", ({ body }) => {
          contents.push((body as { content: string }).content.length);
          return edited;
        });
        const trpc = client();
        const content = "x".repeat(bytes / 2);
        const edit = () => trpc.content.edit.mutate({ articleId, mode: "append", content });
        expect(await Promise.all([edit(), edit()])).toEqual([edited, edited]);
        expect(contents).toEqual([bytes / 2, bytes / 2]);
        await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(0);
      });
    }

    it("[API50] the body of a batch stream counts until its last call is answered", async () => {
      let finish: () => void = () => undefined;
      const slow = new Promise<void>((resolve) => {
        finish = resolve;
      });
      surface.on("content.edit", async () => {
        await slow;
        return edited;
      });
      const trpc = client();
      const late = trpc.content.edit.mutate({ articleId, mode: "append", content: "x" });
      // This call is answered first: its line arrives while the other call still runs.
      await trpc.articles.update.mutate({ articleId, title: "T" });
      expect(surface.app.bodyBytesInFlight()).toBeGreaterThan(0);
      finish();
      expect(await late).toEqual(edited);
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(0);
    });

    it("[API50] a call that is refused at once leaves the body to the other calls of its batch stream", async () => {
      const trpc = client();
      const [refused, given] = await Promise.allSettled([
        (trpc as unknown as { articles: { nope: { mutate(input: object): Promise<unknown> } } }).articles.nope.mutate({}),
        trpc.articles.update.mutate({ articleId, title: "T" }),
      ]);
      expect(refused).toMatchObject({ status: "rejected", reason: { data: { problem: { code: "not_found" } } } });
      expect(given.status).toBe("fulfilled");
    });

    it("[API50] a client that leaves during the body of a batch stream frees its bytes", async () => {
      const raw = await rawConnection(surface.host.port);
      const head = { host: "t", "content-type": "application/json", "content-length": "1000", "trpc-accept": "application/jsonl" };
      const lines = Object.entries({ ...head, ...credentials.session }).map(([header, value]) => `${header}: ${value}\r\n`);
      raw.write(`POST /trpc/content.edit,content.edit?batch=1 HTTP/1.1\r\n${lines.join("")}\r\n{"0":`);
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(5);
      raw.destroy();
      await expect.poll(() => surface.app.bodyBytesInFlight()).toBe(0);
      expect(surface.logged.filter((line) => line.includes("bug"))).toEqual([]);
      expect(surface.serve).not.toHaveBeenCalled();
    });
  });
}
