import { describe, expect, test } from "vitest";
import { AppError } from "../../../api/schema/error.ts";
import { createMetrics } from "../observability/metrics.ts";
import {
  type ConflictEvent,
  conflict,
  maxAttempts,
  maxTotalMs,
  observeConflicts,
  type RetryTiming,
  retryOnConflict,
} from "./retryOnConflict.ts";

/** A clock that advances only while the loop sleeps. */
function fakeTiming(random = () => 0) {
  const waits: number[] = [];
  let nowMs = 0;
  const timing: RetryTiming = {
    random,
    nowMs: () => nowMs,
    async sleep(ms) {
      waits.push(ms);
      nowMs += ms;
    },
  };
  return { timing, waits, advance: (ms: number) => (nowMs += ms) };
}

async function observed(run: () => Promise<unknown>): Promise<readonly ConflictEvent[]> {
  const events: ConflictEvent[] = [];
  const stop = observeConflicts((event) => events.push(event));
  try {
    await run();
  } finally {
    stop();
  }
  return events;
}

describe("retryOnConflict", () => {
  test("[ST92] an attempt without a conflict runs once, waits for nothing and counts nothing", async () => {
    const { timing, waits } = fakeTiming();
    let attempts = 0;
    const events = await observed(async () => {
      const value = await retryOnConflict("test.one", async () => ++attempts, timing);
      expect(value).toBe(1);
    });
    expect({ attempts, waits, events }).toEqual({ attempts: 1, waits: [], events: [] });
  });

  test("[ST92] after some conflicts the value of the first attempt without one is returned", async () => {
    const { timing, waits } = fakeTiming(() => 0.5);
    let attempts = 0;
    const events = await observed(async () => {
      const value = await retryOnConflict("test.some", async () => (++attempts < 8 ? conflict : "stored"), timing);
      expect(value).toBe("stored");
    });
    expect(attempts).toBe(8);
    expect(events).toEqual(Array.from({ length: 7 }, () => ({ operation: "test.some", outcome: "retried" })));
    expect(waits).toHaveLength(4);
  });

  test("[ST91] the first retries run at once, and the later ones wait a random part of a bound that doubles", async () => {
    const full = fakeTiming(() => 1);
    const half = fakeTiming(() => 0.5);
    for (const { timing } of [full, half]) {
      let attempts = 0;
      await retryOnConflict("test.waits", async () => (++attempts < 15 ? conflict : attempts), timing);
    }
    expect(full.waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000]);
    expect(half.waits).toEqual(full.waits.map((ms) => ms / 2));
  });

  test("[ST90] an attempt that always meets a conflict ends as unavailable with a Retry-After", async () => {
    const { timing } = fakeTiming();
    let attempts = 0;
    const events = await observed(() =>
      expect(
        retryOnConflict(
          "test.never",
          async () => {
            attempts += 1;
            return conflict;
          },
          timing,
        ),
      ).rejects.toMatchObject({ code: "unavailable", facts: { retryAfter: 1 } }),
    );
    expect(attempts).toBe(maxAttempts);
    expect(events).toHaveLength(maxAttempts);
    expect(events.at(-1)).toEqual({ operation: "test.never", outcome: "exhausted" });
  });

  test("[ST90] waits and slow attempts end after the time bound, not after the number of attempts", async () => {
    const { timing, advance } = fakeTiming();
    let attempts = 0;
    const slow = async () => {
      attempts += 1;
      advance(1000);
      return conflict;
    };
    await expect(retryOnConflict("test.slow", slow, timing)).rejects.toBeInstanceOf(AppError);
    expect(attempts).toBe(2 + maxTotalMs / 1000);
  });

  test("[ST93] every conflict is counted in the metrics by operation and outcome", async () => {
    const metrics = createMetrics();
    const stop = observeConflicts(metrics.conflictMet);
    const { timing } = fakeTiming();
    await expect(retryOnConflict("test.counted", async () => conflict, timing)).rejects.toBeInstanceOf(AppError);
    stop();
    await expect(retryOnConflict("test.counted", async () => conflict, timing)).rejects.toBeInstanceOf(AppError);
    const text = await metrics.render();
    expect(text).toContain(`svc_conflicts_total{op="test.counted",outcome="retried"} ${maxAttempts - 1}`);
    expect(text).toContain('svc_conflicts_total{op="test.counted",outcome="exhausted"} 1');
  });
});
