/**
 * A distant clock as this process sees it: what it said, and the two moments of the monotonic clock here between which it
 * said so. That is all that is known, so the estimate moves only as far as an answer contradicts it: one that was
 * long on its way, through a dead link or a process that was stopped, says little and moves little. Halving the way
 * instead would put the clock ahead by half of it, and a clock that is ahead takes leases from those who hold them.
 */
export interface DistantClock {
  /** `saidMs`: whole milliseconds; the others in milliseconds of `performance.now()`. */
  learn(reading: { readonly askedMs: number; readonly saidMs: number; readonly answeredMs: number }): void;
  /** Milliseconds of the distant clock at this moment of the monotonic one. */
  at(monotonicMs: number): number;
}

export function createDistantClock(): DistantClock {
  let offsetMs: number | undefined;
  return {
    learn({ askedMs, saidMs, answeredMs }) {
      const [least, most] = [saidMs - answeredMs, saidMs + 1 - askedMs];
      offsetMs = offsetMs === undefined ? (least + most) / 2 : Math.min(Math.max(offsetMs, least), most);
    },
    at(monotonicMs) {
      if (offsetMs === undefined) throw new Error("the clock was never read");
      return Math.floor(offsetMs + monotonicMs);
    },
  };
}
