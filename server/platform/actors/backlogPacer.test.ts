import pino from "pino";
import { describe, expect, test } from "vitest";
import { createManualTime } from "../../../test/support/manualTime.ts";
import { createMemoryStorage } from "../storage/memoryStorage.ts";
import { createBacklogPacer } from "./backlogPacer.ts";
import { createDuePump } from "./due.ts";

const leaseMs = 5000;
const pauseMs = 2 * leaseMs;

describe("rows that found their lane full", () => {
  test("[AC25] each pause brings back as many rows as the lane holds, and the last within its limit", () => {
    const { toReturnAtMs } = createBacklogPacer({ now: () => 1_000_000, pauseMs });
    const waits = Array.from({ length: 5000 }, () => toReturnAtMs("slow", 1000) - 1_000_000);
    expect(Math.min(...waits)).toBe(pauseMs);
    for (let from = pauseMs; from < 6 * pauseMs; from += pauseMs) {
      const together = waits.filter((wait) => wait >= from && wait < from + pauseMs).length;
      expect([from, Math.abs(together - 1000) <= 100]).toEqual([from, true]);
    }
    expect(toReturnAtMs("other", 1000)).toBe(1_000_000 + pauseMs);
    const many = Array.from({ length: 100_000 }, () => toReturnAtMs("slow", 1000) - 1_000_000);
    expect(Math.max(...many)).toBeLessThanOrEqual(300_000 + 2 * pauseMs);
  });

  test("[AC25] rows of a long backlog for a dead endpoint are claimed rarely, and each one again", async () => {
    const time = createManualTime();
    const storage = createMemoryStorage({ recordTypes: [], now: time.now });
    const claimed: string[][] = [[]];
    const watched = time.watch({
      ...storage,
      due: {
        ...storage.due,
        async claim(options) {
          const rows = await storage.due.claim(options);
          claimed.at(-1)?.push(...rows.map(({ id }) => id));
          return rows;
        },
      },
    });
    const pump = createDuePump({ storage: watched, log: pino({ level: "silent" }), leaseMs, after: time.after });
    const lanes = [
      { name: "all", max: 200 },
      { name: "slow", max: 4 },
    ];
    pump.register("call", () => new Promise(() => {}), { lanes: () => lanes });
    const count = 5000;
    const rows = Array.from({ length: count }, (_, n) => ({
      id: `row ${n}`,
      kind: "call",
      dueAtMs: time.now(),
      payload: null,
      attempts: 0,
    }));
    await storage.commit({ partition: 3, due: rows.map((row) => ({ op: "schedule", row })) });
    pump.start();
    await time.advance(0);
    expect(new Set(claimed[0]).size).toBe(count);
    for (let pause = 0; pause < 6; pause += 1) {
      claimed.push([]);
      await time.advance(pauseMs);
    }
    const later = claimed.slice(1);
    // About one line of rows comes back after each pause. Without the pacer, all rows came back.
    for (const ids of later) expect(ids.length).toBeLessThan(1200);
    // The pacer holds 1004 rows.
    expect(new Set(later.flat()).size).toBe(count - 1004);
    await pump.drain(AbortSignal.abort());
    await storage.close();
  });
});
