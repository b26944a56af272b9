import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { after as callLater } from "./after.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs `after` for each delay and returns how late each call was, in milliseconds. */
function measureLateness(delaysMs: readonly number[]): number[] {
  const startMs = performance.now();
  const lateMs: number[] = [];
  for (const [at, delayMs] of delaysMs.entries()) callLater(delayMs, () => (lateMs[at] = performance.now() - startMs - delayMs));
  vi.advanceTimersByTime(Math.max(...delaysMs) + 1000);
  return lateMs;
}

describe("timers of a process", () => {
  test("[OP70] delays that end in the same quarter of a second share one timer, and none ends early", () => {
    vi.advanceTimersByTime(37);
    const delaysMs = Array.from({ length: 1000 }, (_, at) => 2000 + (at % 100));
    for (const delayMs of delaysMs) callLater(delayMs, () => {});
    expect(vi.getTimerCount()).toBe(1);
    const lateMs = measureLateness(delaysMs);
    expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateMs)).toBeLessThanOrEqual(250);
  });

  test("[OP70] a delay of ten seconds or more ends within half a second, and a short delay at its own time", () => {
    const lateMs = measureLateness([10, 1000, 1999, 10_000, 10_400, 20_000]);
    expect(lateMs.slice(0, 3)).toEqual([0, 0, 0]);
    expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lateMs)).toBeLessThanOrEqual(500);
  });

  test("[OP70] a cancelled call is not made, and the last one cancels the timer", () => {
    const called: string[] = [];
    const cancelFirst = callLater(5000, () => called.push("first"));
    const cancelSecond = callLater(5000, () => called.push("second"));
    cancelFirst();
    vi.advanceTimersByTime(6000);
    expect(called).toEqual(["second"]);
    const cancelThird = callLater(5000, () => called.push("third"));
    cancelThird();
    cancelSecond();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("[OP70] a call may cancel another one that ends at the same time", () => {
    const called: string[] = [];
    let cancelSecond = () => {};
    callLater(5000, () => {
      called.push("first");
      cancelSecond();
    });
    cancelSecond = callLater(5000, () => called.push("second"));
    vi.advanceTimersByTime(6000);
    expect(called).toEqual(["first"]);
  });
});
