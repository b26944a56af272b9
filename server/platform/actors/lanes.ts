/**
 * Lanes limit how much work runs at once: each lane has a maximum, and further work waits in a line.
 *
 * Work may need several lanes, for example the lane of its kind and the lane of its endpoint. Each set of lanes has its
 * own line, and the lines are served in turn, so a long line for one endpoint does not delay the others. A line whose work
 * has just ended is served after all others.
 */
import type { Lane } from "./duePort.ts";

interface Waiting {
  readonly start: () => void;
}

interface Line {
  readonly lanes: readonly Lane[];
  readonly waiting: Set<Waiting>;
}

export interface Lanes {
  /**
   * Starts the work now and returns `"started"`, or adds the work to its line. Returns `"full"` if `maxWaiting` tasks
   * already wait in the line.
   */
  enter(lanes: readonly Lane[], maxWaiting: number, start: () => void): "started" | "full" | { leaveLine(): void };
  /** Frees the lanes of work that has ended. */
  leave(lanes: readonly Lane[]): void;
}

export function createLanes(): Lanes {
  const busy = new Map<string, number>();
  const lines = new Map<string, Line>();
  /** Lane name → keys of the lines that need the lane, in serving order. */
  const linesOfLane = new Map<string, Set<string>>();

  const toKey = (lanes: readonly Lane[]) => JSON.stringify(lanes.map((lane) => lane.name));
  const busyIn = ({ name }: Lane) => busy.get(name) ?? 0;

  function hasRoom(lanes: readonly Lane[]): boolean {
    return lanes.every((lane) => {
      const { max, maxInCrowd = max } = lane;
      const crowded = maxInCrowd < max && lanes.some((other) => other !== lane && busyIn(other) * 2 >= other.max);
      return busyIn(lane) < (crowded ? maxInCrowd : max);
    });
  }

  function occupy(lanes: readonly Lane[]): void {
    for (const { name } of lanes) busy.set(name, (busy.get(name) ?? 0) + 1);
  }

  function openLine(key: string, lanes: readonly Lane[]): Line {
    const line = { lanes, waiting: new Set<Waiting>() };
    lines.set(key, line);
    for (const { name } of lanes) linesOfLane.set(name, (linesOfLane.get(name) ?? new Set()).add(key));
    return line;
  }

  function closeIfEmpty(key: string, line: Line): void {
    if (line.waiting.size > 0) return;
    lines.delete(key);
    for (const { name } of line.lanes) {
      const keys = linesOfLane.get(name);
      keys?.delete(key);
      if (keys?.size === 0) linesOfLane.delete(name);
    }
  }

  /** Starts one task from each line that has room, and repeats the rounds until no more tasks fit. */
  function serve(lane: Lane): void {
    for (let served = true; served; ) {
      served = false;
      const turns = linesOfLane.get(lane.name);
      if (turns === undefined) return;
      // A served line moves to the end of the set. `left` ends the round before that line is visited again.
      let left = turns.size;
      for (const key of turns) {
        if (left === 0 || busyIn(lane) >= lane.max) break;
        left -= 1;
        const line = lines.get(key);
        const [next] = line?.waiting ?? [];
        if (line === undefined || next === undefined || !hasRoom(line.lanes)) continue;
        line.waiting.delete(next);
        turns.delete(key);
        turns.add(key);
        closeIfEmpty(key, line);
        occupy(line.lanes);
        served = true;
        next.start();
      }
    }
  }

  return {
    enter(lanes, maxWaiting, start) {
      const key = toKey(lanes);
      const line = lines.get(key);
      if (line === undefined && hasRoom(lanes)) {
        occupy(lanes);
        start();
        return "started";
      }
      const joined = line ?? openLine(key, lanes);
      if (joined.waiting.size >= maxWaiting) {
        closeIfEmpty(key, joined);
        return "full";
      }
      const waiting = { start };
      joined.waiting.add(waiting);
      return {
        leaveLine() {
          if (joined.waiting.delete(waiting)) closeIfEmpty(key, joined);
        },
      };
    },
    leave(lanes) {
      for (const { name } of lanes) {
        const left = (busy.get(name) ?? 0) - 1;
        if (left > 0) busy.set(name, left);
        else busy.delete(name);
      }
      const key = toKey(lanes);
      for (const { name } of lanes) {
        const turns = linesOfLane.get(name);
        if (turns?.delete(key) === true) turns.add(key);
      }
      for (const lane of lanes) serve(lane);
    },
  };
}
