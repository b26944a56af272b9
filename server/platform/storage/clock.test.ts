import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createStoreClock } from "./clock.ts";

const wallMs = 1_900_000_000_000;
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date", "performance"], now: wallMs }));
afterEach(() => void vi.useRealTimers());

describe("store time", () => {
  test("[ST21] store time starts at the wall clock and advances by the monotonic clock alone", () => {
    const clock = createStoreClock();
    expect(clock.now()).toBe(wallMs);
    vi.advanceTimersByTime(5000);
    expect(clock.now()).toBe(wallMs + 5000);
    for (const jumpMs of [-3_600_000, 3_600_000]) {
      vi.setSystemTime(wallMs + jumpMs);
      expect(clock.now()).toBe(wallMs + 5000);
    }
  });

  test("[ST21] a wall clock behind the last store time does not stop store time", () => {
    const clock = createStoreClock({ notBeforeMs: wallMs + 60_000 });
    expect(clock.now()).toBe(wallMs + 60_000);
    vi.advanceTimersByTime(1000);
    expect(clock.now()).toBe(wallMs + 61_000);
  });
});
