/** Runs the tasks of each key one after the other. A task starts when the previous one has ended, even if that one failed. */
import { AppError } from "../../../api/schema/error.ts";

/** The returned function throws `rate_limited` when one task of the key runs and `maxWaiting` tasks wait. */
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
