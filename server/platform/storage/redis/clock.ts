/**
 * The distant clock estimates the time of the Redis server from the local monotonic clock.
 *
 * Each reading gives the server time and the two local moments between which it was read, which bounds the offset
 * between the clocks. A new reading changes the estimate only as far as the estimate lies outside these bounds. A slow
 * answer (dead link, stopped process) has wide bounds and therefore changes little. Taking the middle of the bounds
 * would put the clock ahead by half of the delay, and a clock that is ahead ends leases that are still held.
 */
export interface DistantClock {
  /** `serverMs` is the server time in whole milliseconds. `askedMs` and `answeredMs` are values of `performance.now()`. */
  addReading(reading: { readonly askedMs: number; readonly serverMs: number; readonly answeredMs: number }): void;
  /** Server time in milliseconds at this value of `performance.now()`. Throws if the clock was never read. */
  at(monotonicMs: number): number;
}

export function createDistantClock(): DistantClock {
  let offsetMs: number | undefined;
  return {
    addReading({ askedMs, serverMs, answeredMs }) {
      const [least, most] = [serverMs - answeredMs, serverMs + 1 - askedMs];
      offsetMs = offsetMs === undefined ? (least + most) / 2 : Math.min(Math.max(offsetMs, least), most);
    },
    at(monotonicMs) {
      if (offsetMs === undefined) throw new Error("the clock was never read");
      return Math.floor(offsetMs + monotonicMs);
    },
  };
}
