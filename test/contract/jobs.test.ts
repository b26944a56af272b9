/** Tests jobs on every storage: their pieces, progress and ends, and their behaviour after errors and conflicts. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Job } from "../../api/schema/job.ts";
import type { Versioned } from "../../server/domain/call/call.ts";
import { createStartJob, defineJobKind } from "../../server/domain/jobs/jobKind.ts";
import type { JobWork, Piece } from "../../server/domain/jobs/port.ts";
import { jobRecord } from "../../server/domain/jobs/records.ts";
import { createJobService } from "../../server/domain/jobs/service.ts";
import type { UnitOfWork } from "../../server/platform/actors/port.ts";
import { createHousekeeping, housekeepingKinds } from "../../server/platform/storage/housekeeping.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRecordTypes, defineRecord } from "../../server/platform/storage/recordType.ts";
import { composeParts } from "../support/composeParts.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { everyStorage } from "../support/storages.ts";

const partition = 5;
const workspaceId = "ws_01KAHX0000050123456789ABCD";
const dayMs = 24 * 3_600_000;

/** Counts how often an item was done. */
interface Mark {
  readonly item: string;
  readonly times: number;
}
const markRecord = defineRecord<Mark>({ name: "testMark", version: 1, partitionOf: () => partition, keyOf: ({ item }) => item });

interface CountState extends Readonly<Record<string, unknown>> {
  readonly at: number;
}

describe.each(everyStorage())("%s", (_name, openStorage) => {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
  });
  afterEach(() => close());

  async function mark(unit: UnitOfWork, item: string): Promise<void> {
    const stored = await storage.records.get(markRecord, item);
    const value = { item, times: (stored?.value.times ?? 0) + 1 };
    unit.record({ op: "put", type: markRecord, value, replacing: stored ?? null });
  }
  const timesOf = async (item: string) => (await storage.records.get(markRecord, item))?.value.times ?? 0;

  /** Work of `count` items, two in each piece. `disturb` runs first in each attempt. */
  function toWork(count: number, disturb: (at: number, attempt: number) => void | Promise<void> = () => {}): JobWork<CountState> {
    return {
      kind: "test.count",
      async step(unit, { state: { at }, attempt }): Promise<Piece<CountState>> {
        const items = Array.from({ length: Math.min(2, count - at) }, (_, offset) => `item ${at + offset}`);
        for (const item of items) await mark(unit, item);
        await disturb(at, attempt);
        const next = at + items.length;
        if (next === count) return { kind: "end", result: { items: count }, done: items.length };
        return { kind: "next", state: { at: next }, done: items.length, ...(at === 0 ? { found: 1 } : {}) };
      },
    };
  }

  function startNode(...works: readonly JobWork[]) {
    const parts = composeParts(storage, { after: time.after });
    const kind = defineJobKind(parts.limits);
    const service = createJobService({ storage, kind, works });
    parts.install([service.manifest]);
    const types = createRecordTypes([jobRecord] as never);
    for (const name of housekeepingKinds) parts.pump.register(name, createHousekeeping(storage, types));
    parts.pump.start();
    const startJob = createStartJob(kind);
    return {
      parts,
      async start(of: number): Promise<string> {
        const jobId = parts.ids.next("job", partition);
        await parts.actors.commitUnit({ operation: "test", partition, committer: storage }, async (unit) =>
          startJob(unit, { kind: "test.count" }, { jobId, workspaceId, by: "ana", of, state: { at: 0 } }),
        );
        return jobId;
      },
      get: async (jobId: string) => (await (service.jobs.get as (request: object) => Promise<Versioned<Job>>)({ params: { jobId } })).value,
    };
  }

  /** Leaps until the condition holds, because a poll for each second of an hour takes long. */
  async function leapUntil(condition: () => boolean | Promise<boolean>, stepMs: number): Promise<void> {
    for (let leaps = 0; leaps < 50; leaps += 1) {
      if (await condition()) return;
      await time.leap(stepMs);
    }
    throw new Error("the condition did not come true");
  }

  async function untilEnded(node: ReturnType<typeof startNode>, jobId: string): Promise<Job> {
    await time.until(async () => (await node.get(jobId)).finishedAt !== undefined);
    return node.get(jobId);
  }

  test("[JB3] a job does its items once each, and shows its progress and its result", async () => {
    let seen: Job | undefined;
    const node = startNode(
      toWork(5, async (at) => {
        if (at === 4) seen = await node.get(jobId);
      }),
    );
    const jobId = await node.start(4);
    expect(await untilEnded(node, jobId)).toEqual({
      jobId,
      kind: "test.count",
      status: "succeeded",
      progress: { done: 5, of: 5 },
      createdAt: expect.any(Number),
      finishedAt: expect.any(Number),
      result: { items: 5 },
    });
    expect(seen).toMatchObject({ status: "running", progress: { done: 4, of: 5 } });
    expect(await Promise.all(Array.from({ length: 5 }, (_, at) => timesOf(`item ${at}`)))).toEqual([1, 1, 1, 1, 1]);
  });

  test("[JB2] a piece whose records another writer changes meanwhile is decided again, and done once", async () => {
    let disturbed = 0;
    const node = startNode(
      toWork(4, async (at) => {
        if (at !== 2 || disturbed === 3) return;
        disturbed += 1;
        const stored = await storage.records.get(markRecord, "item 3");
        const value = { item: "item 3", times: (stored?.value.times ?? 0) + 10 };
        await storage.commit({ partition, records: [{ op: "put", type: markRecord, value, replacing: stored ?? null }] });
      }),
    );
    const job = await untilEnded(node, await node.start(4));
    expect(job).toMatchObject({ status: "succeeded", progress: { done: 4, of: 4 } });
    expect([await timesOf("item 2"), await timesOf("item 3"), disturbed]).toEqual([1, 31, 3]);
  });

  test("[JB4] an error of the server never ends a job: it goes on where it was when the error is gone", async () => {
    let isBroken = true;
    let attempts = 0;
    const node = startNode(
      toWork(4, (at, attempt) => {
        if (at !== 2 || !isBroken) return;
        attempts = attempt;
        throw new Error("broken");
      }),
    );
    const jobId = await node.start(4);
    await leapUntil(() => attempts >= 8, 300_000);
    expect(await node.get(jobId)).toMatchObject({ status: "running", progress: { done: 2, of: 5 } });
    isBroken = false;
    await leapUntil(async () => (await node.get(jobId)).status === "succeeded", 300_000);
    expect(await Promise.all(["item 0", "item 2", "item 3"].map(timesOf))).toEqual([1, 1, 1]);
  });

  test("[JB5] work that cannot succeed ends its job as failed, with the reason", async () => {
    const error = { code: "step_failed", message: "There is nothing to count." };
    const work: JobWork = { kind: "test.count", step: async () => ({ kind: "failed", error }) };
    const node = startNode(work);
    const jobId = await node.start(4);
    expect(await untilEnded(node, jobId)).toMatchObject({ status: "failed", error, progress: { done: 0, of: 4 } });
  });

  test("[JB4] a job of a kind that this server does not know waits for a server that does", async () => {
    const older = startNode({ ...toWork(2), kind: "test.other" });
    const jobId = await older.start(2);
    for (let leaps = 0; leaps < 12; leaps += 1) await time.leap(300_000);
    expect((await older.get(jobId)).status).toBe("queued");
    await older.parts.pump.drain(AbortSignal.abort());
    const newer = startNode(toWork(2));
    await leapUntil(async () => (await newer.get(jobId)).status === "succeeded", 300_000);
    expect(await timesOf("item 0")).toBe(1);
  });

  test("[JB6] a job can be read for 30 days after its end, then it is deleted", async () => {
    const node = startNode(toWork(2));
    const jobId = await node.start(2);
    await untilEnded(node, jobId);
    await time.leap(29 * dayMs);
    expect((await node.get(jobId)).status).toBe("succeeded");
    await leapUntil(async () => (await storage.records.get(jobRecord, jobId)) === undefined, dayMs / 4);
    await expect(node.get(jobId)).rejects.toMatchObject({ code: "not_found" });
  });
});
