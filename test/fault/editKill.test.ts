/**
 * Tests edits with an Idempotency-Key while the server is killed repeatedly. Each edit is repeated until it is
 * answered. In the end, the text must contain every edit once, even if a kill came between the log entry and the
 * answer.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Rest, signIn } from "../support/clients.ts";
import { toRounds } from "../support/faultRounds.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const kills = toRounds(3);
const writers = 8;
const retried = new Set(["idempotency_in_progress", "unavailable"]);

let server: RunningServer;
let rest: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer({ LIMITS: "off", LEASE_MS: "1000" });
  rest = await signIn(server.url, server.operator);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
});
afterAll(() => server.remove());

/** Repeats a request until the server gives a final answer. */
async function insist(path: string, body: unknown, key: string): Promise<number> {
  for (;;) {
    try {
      const { status, body: answer } = await rest.request("PATCH", path, body, { "idempotency-key": key });
      if (status < 400 || !retried.has(answer.code)) return status;
    } catch {
      // The connection was closed. The repeat finds out whether the edit was made.
    }
    await pause(20);
  }
}

it(`[AR16] after ${kills} kill -9, each repeated edit with a key is in the text exactly once`, async () => {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Edited", content: "[0]" });
  const path = `/articles/${articleId}/content`;
  let number = 0;
  let isOver = false;
  const statuses: number[] = [];

  async function write(writer: number): Promise<void> {
    while (!isOver) {
      number += 1;
      const token = `[${number}]`;
      const bodies = [
        { mode: "append", content: token },
        { mode: "prepend", content: token },
        { mode: "patch", edits: [{ find: "[0]", replace: `[0]${token}` }] },
        { mode: "append", content: token, message: "and commit" },
      ];
      statuses.push(await insist(path, bodies[(writer + number) % bodies.length], `key ${number}`));
    }
  }

  const writing = Array.from({ length: writers }, (_, writer) => write(writer));
  for (let kill = 0; kill < kills; kill += 1) {
    const wanted = number + 60;
    while (number < wanted) await pause(5);
    await server.kill();
    await server.start();
  }
  isOver = true;
  await Promise.all(writing);

  expect(new Set(statuses)).toEqual(new Set([200]));
  const { content } = await rest.expect<{ content: string }>(200, "GET", path);
  const written = content.match(/\[\d+\]/g) ?? [];
  expect(written.join("")).toBe(content);
  expect(written.sort()).toEqual(Array.from({ length: number + 1 }, (_, at) => `[${at}]`).sort());
});
