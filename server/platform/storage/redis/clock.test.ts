import { expect, it } from "vitest";
import { createDistantClock } from "./clock.ts";

const offsetMs = 1_000_000;

it("[ST50] an answer that is delayed in either direction does not move store time", () => {
  const clock = createDistantClock();
  clock.addReading({ askedMs: 10, serverMs: offsetMs + 10, answeredMs: 11 });
  for (const serverAtMs of [1000, 3000, 5000]) clock.addReading({ askedMs: 1000, serverMs: offsetMs + serverAtMs, answeredMs: 5000 });
  expect(Math.abs(clock.at(6000) - (offsetMs + 6000))).toBeLessThanOrEqual(1);
});

it("[ST50] store time follows a clock that drifts or jumps, and a fast answer bounds it closely", () => {
  const clock = createDistantClock();
  // The first answer takes long, so half of its round trip is uncertain. The next answer removes the uncertainty.
  clock.addReading({ askedMs: 0, serverMs: offsetMs + 400, answeredMs: 400 });
  expect(clock.at(400)).toBeGreaterThan(offsetMs + 400);
  for (let second = 1; second <= 100; second += 1) {
    const [askedMs, aheadMs] = [second * 1000, second > 50 ? 5000 : second];
    clock.addReading({ askedMs, serverMs: Math.floor(offsetMs + askedMs + 0.2 + aheadMs), answeredMs: askedMs + 0.4 });
    expect(Math.abs(clock.at(askedMs) - (offsetMs + askedMs + aheadMs))).toBeLessThanOrEqual(2);
  }
});
