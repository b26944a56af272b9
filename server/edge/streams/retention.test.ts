/** Tests the removal of old events, by age, by number and with their article, on a memory store with a manual clock. */
import { beforeEach, describe, expect, test } from "vitest";
import { articleEventLog, articleTrimEveryMs, createArticleEvents } from "../../domain/articles/articleEvents.ts";
import { toNewArticle } from "../../domain/articles/articleWriter.ts";
import { articleRecord } from "../../domain/articles/records.ts";
import { encodeTimelineEntry, runLog, timelineLog } from "../../domain/runs/engine/timelineEntry.ts";
import { trimEveryMs } from "../../domain/runs/engine/timelineRows.ts";
import { trimRow, trimRows } from "../../platform/actors/trimRows.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import type { DueWrite, LogWrite, Storage } from "../../platform/storage/port.ts";
import { createRetention } from "./retention.ts";

const workspaceId = "ws_01KAHX0000050123456789ABCD";
const runId = "run_01KAHX0000050123456789ABCE";
const articleId = "art_01KAHX0000050123456789ABCF";
const partition = partitionOfId(workspaceId);
const logs = { run: runLog(runId), workspace: timelineLog(workspaceId), article: articleEventLog(articleId) };
const dayMs = 24 * 60 * 60 * 1000;
const keepMs = 30 * dayMs;
const keepPerLog = 1200;

let nowMs: number;
let storage: Storage;
beforeEach(() => {
  nowMs = 1_800_000_000_000;
  storage = createMemoryStorage({ now: () => nowMs });
});

async function tell(count: number): Promise<void> {
  const entry = encodeTimelineEntry({
    event: "agent.run_cancelled",
    createdAt: new Date(nowMs).toISOString(),
    workspaceId,
    runId,
    workflowId: "outline",
    workflowVersion: "1",
    actor: "ana",
    data: { by: "ana" },
  });
  const entries = Array.from({ length: count }, () => entry);
  await storage.commit({ partition, logs: [{ op: "append", log: logs.run, twin: logs.workspace, entries }] });
}

async function addArticle(): Promise<void> {
  const value = toNewArticle({ articleId, workspaceId, number: 1, title: "Kites", by: "ana", nowMs });
  await storage.commit({ partition, records: [{ op: "put", type: articleRecord, value, replacing: null }] });
}

/** Adds events to the log of the article, and returns the rows that their commit armed. */
async function tellOfArticle(count: number): Promise<readonly DueWrite[]> {
  const [log, due]: [LogWrite[], DueWrite[]] = [[], []];
  const events = createArticleEvents({ storage, limits: { "keep.events": keepMs } });
  const unit = { log: (write: LogWrite) => log.push(write), due: (write: DueWrite) => due.push(write), afterCommit: () => {} };
  for (let at = 0; at < count; at += 1) {
    events.add(unit as never, { articleId, workspaceId, event: "document.deleted", actor: "ana", data: { permanent: false } });
  }
  await storage.commit({ partition, logs: log, due });
  return due;
}

/** Returns the positions that are kept. */
async function kept(log: string): Promise<readonly [first: number, last: number] | "none"> {
  const read = await storage.log.read({ partition, log, after: 0, limit: 1 });
  const first = read.gap ? read.firstKept : read.entries[0]?.position;
  return first === undefined || first > read.tail ? "none" : [first, read.tail];
}

/** Trims the log and returns the time of the worker's next run. */
async function trim(log: string): Promise<number> {
  const worker = createRetention({ storage, limits: { "keep.events": keepMs, "keep.eventsPerLog": keepPerLog } })[trimRows.name];
  const row = { ...trimRow(log, nowMs), partition, fence: 1, leaseMs: 5000 };
  const outcome = await worker?.(row as never, {} as never);
  if (outcome?.kind !== "retry" || outcome.atMs === undefined) throw new Error("the row must stay");
  return outcome.atMs - nowMs;
}

describe("timeline retention", () => {
  test("[SE8] events over keep.events are deleted in pages, and the next pass waits for the oldest kept", async () => {
    await tell(600);
    nowMs += 10 * dayMs;
    await tell(3);
    expect(await trim(logs.run)).toBe(20 * dayMs);
    expect(await kept(logs.run)).toEqual([1, 603]);
    nowMs += 20 * dayMs;
    expect(await trim(logs.run)).toBe(10 * dayMs);
    expect(await kept(logs.run)).toEqual([601, 603]);
    // The other log has its own due row and its own state.
    expect(await kept(logs.workspace)).toEqual([1, 603]);
    expect(await trim(logs.workspace)).toBe(trimEveryMs);
    expect(await kept(logs.workspace)).toEqual([601, 603]);
  });

  test("[SE8] a log that becomes empty continues its positions", async () => {
    await tell(5);
    nowMs += keepMs;
    await trim(logs.run);
    expect(await kept(logs.run)).toBe("none");
    await tell(1);
    expect(await kept(logs.run)).toEqual([6, 6]);
    expect(await trim(logs.run)).toBe(keepMs);
    expect(await kept(logs.run)).toEqual([6, 6]);
  });

  test("[SE25] beyond keep.eventsPerLog the oldest events are deleted, however young", async () => {
    await tell(1000);
    await tell(501);
    await trim(logs.workspace);
    expect(await kept(logs.workspace)).toEqual([302, 1501]);
    // There is nothing more to remove.
    await trim(logs.workspace);
    expect(await kept(logs.workspace)).toEqual([302, 1501]);
    await tell(1);
    await trim(logs.workspace);
    expect(await kept(logs.workspace)).toEqual([303, 1502]);
  });

  test("[SE25] a workspace log whose entries were all trimmed is checked as often as any other", async () => {
    await tell(5);
    nowMs += keepMs;
    expect(await trim(logs.workspace)).toBe(trimEveryMs);
    expect(await kept(logs.workspace)).toBe("none");
  });

  test("[SE72] events of an article are deleted by age and number, and its log is checked once a day", async () => {
    await addArticle();
    const [armed] = await tellOfArticle(10);
    expect(armed).toMatchObject({ op: "arm", row: { dueAtMs: nowMs + articleTrimEveryMs, payload: { log: logs.article } } });
    nowMs += 10 * dayMs;
    await tellOfArticle(3);
    expect(await trim(logs.article)).toBe(articleTrimEveryMs);
    expect(await kept(logs.article)).toEqual([1, 13]);
    nowMs += 20 * dayMs;
    expect(await trim(logs.article)).toBe(articleTrimEveryMs);
    expect(await kept(logs.article)).toEqual([11, 13]);
    // A log that fills quickly is checked each hour.
    await tellOfArticle(keepPerLog);
    expect(await trim(logs.article)).toBe(trimEveryMs);
    expect(await kept(logs.article)).toEqual([14, 13 + keepPerLog]);
  });

  test("[SE72] the log of an article that was deleted for good is removed, with its row", async () => {
    await addArticle();
    await tellOfArticle(5);
    const stored = await storage.records.get(articleRecord, articleId);
    if (stored === undefined) throw new Error("the article does not exist");
    await storage.commit({ partition, records: [{ op: "delete", type: articleRecord, replacing: stored }] });
    const worker = createRetention({ storage, limits: { "keep.events": keepMs, "keep.eventsPerLog": keepPerLog } })[trimRows.name];
    const row = { ...trimRow(logs.article, nowMs), partition, fence: 1, leaseMs: 5000 };
    expect(await worker?.(row as never, {} as never)).toEqual({ kind: "done" });
    expect(await storage.log.tail(partition, logs.article)).toBe(0);
  });
});
