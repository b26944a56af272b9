import { describe, expect, test } from "vitest";
import { toEventBody } from "./payload.ts";

const envelope = { id: "evt_1", event: "article.updated", createdAt: "2026-11-21T00:00:00.000Z", workspaceId: "ws_1" } as const;
const kilobyte = 1024;

describe("payload", () => {
  test("[WH1] the body holds id, event, createdAt, workspaceId and data, in that order", () => {
    expect(toEventBody({ ...envelope, data: { title: "A", revision: 3 } }, 20 * kilobyte)).toBe(
      '{"id":"evt_1","event":"article.updated","createdAt":"2026-11-21T00:00:00.000Z","workspaceId":"ws_1","data":{"title":"A","revision":3}}',
    );
  });

  test.each([
    ["plain text", "x".repeat(100_000)],
    ["escapes", '"\n\u0001'.repeat(20_000)],
    ["emoji", "🎈".repeat(30_000)],
    ["a lone surrogate", "\ud83c".repeat(30_000)],
  ])("[WH1] a text that does not fit is cut: %s", (_name, text) => {
    const body = toEventBody({ ...envelope, data: { articleId: "art_1", body: text, url: "https://content.example/a" } }, 20 * kilobyte);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20 * kilobyte);
    expect(Buffer.byteLength(body)).toBeGreaterThan(15 * kilobyte);
    const { data } = JSON.parse(body) as { data: Record<string, string> };
    expect(data).toMatchObject({ articleId: "art_1", url: "https://content.example/a" });
    expect(data.body?.endsWith("…")).toBe(true);
    expect(text.startsWith(data.body?.slice(0, -1) ?? "-")).toBe(true);
  });

  test("[WH1] a list that does not fit loses its end, and a list that fits exactly is unchanged", () => {
    const authors = Array.from({ length: 2000 }, (_, at) => ({ username: `author-${at}`, kind: "session" }));
    const body = toEventBody({ ...envelope, data: { articleId: "art_1", authors, files: [{ file: "content.md" }] } }, 20 * kilobyte);
    const { data } = JSON.parse(body) as { data: { authors: unknown[]; files: unknown[] } };
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20 * kilobyte);
    expect(data.authors).toEqual(authors.slice(0, data.authors.length));
    expect(data.authors.length).toBeGreaterThan(200);
    expect(data.files.length).toBe(1);
    const whole = toEventBody({ ...envelope, data: { body: "y".repeat(1000) } }, 20 * kilobyte);
    expect(toEventBody({ ...envelope, data: { body: "y".repeat(1000) } }, Buffer.byteLength(whole))).toBe(whole);
  });
});
