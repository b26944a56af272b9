import { expect, it } from "vitest";
import { createDistantClock } from "./clock.ts";

const offsetMs = 1_000_000;

it("[ST50] an answer that is delayed in either direction does not move store time", () => {
  const clock = createDistantClock();
  clock.learn({ askedMs: 10, saidMs: offsetMs + 10, answeredMs: 11 });
  for (const saidAtMs of [1000, 3000, 5000]) clock.learn({ askedMs: 1000, saidMs: offsetMs + saidAtMs, answeredMs: 5000 });
  expect(Math.abs(clock.at(6000) - (offsetMs + 6000))).toBeLessThanOrEqual(1);
});

it("[ST50] store time follows a clock that drifts or jumps, as closely as the answers are fast", () => {
  const clock = createDistantClock();
  // The first answer takes long, so half of its round trip is uncertain. The next answer removes the uncertainty.
  clock.learn({ askedMs: 0, saidMs: offsetMs + 400, answeredMs: 400 });
  expect(clock.at(400)).toBeGreaterThan(offsetMs + 400);
  for (let second = 1; second <= 100; second += 1) {
    const [askedMs, aheadMs] = [second * 1000, second > 50 ? 5000 : second];
    clock.learn({ askedMs, saidMs: Math.floor(offsetMs + askedMs + 0.2 + aheadMs), answeredMs: askedMs + 0.4 });
    expect(Math.abs(clock.at(askedMs) - (offsetMs + askedMs + aheadMs))).toBeLessThanOrEqual(2);
  }
});
