/** One after the other for each key: what waits for its turn begins when the one before has ended, however it ended. */
import { AppError } from "../../api/schema/error.ts";

/** Refuses with `rate_limited` when more than `maxWaiting` wait already. */
export function createTurns(maxWaiting: number): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  return async (key, task) => {
    const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length > maxWaiting) {
      throw new AppError("rate_limited", "Too many edits of this long text are waiting; retry shortly.", { retryAfter: 5 });
    }
    lines.set(key, line);
    line.length += 1;
    const done = line.last.then(task);
    line.last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      line.length -= 1;
      if (line.length === 0) lines.delete(key);
    }
  };
}
