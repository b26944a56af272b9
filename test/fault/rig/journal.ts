/**
 * The checker's record of acknowledgements to clients, with the time that each took. It is independent of the server
 * and lives in the test process, which no fault reaches.
 */

import { type Outcome, percentile } from "./outcome.ts";

export interface Journal {
  /** Records the start of an entry. Its time to the acknowledgement starts here. */
  began(entry: string): void;
  /** Records the acknowledgement of these entries. Earlier acknowledgements do not change. */
  acknowledge(...entries: readonly string[]): void;
  /** Records a fault that is neither a loss nor a double. `told` has its text. */
  bad(what: string): void;
  readonly acknowledged: ReadonlySet<string>;
  readonly told: readonly string[];
  /** Compares with the real entries: an acknowledged entry that is missing is lost, and one that exists twice is double. */
  check(there: readonly string[]): { readonly lost: readonly string[]; readonly dup: readonly string[] };
  /** Milliseconds from the start to the acknowledgement. */
  readonly times: readonly number[];
  /** Returns the figures of an outcome. */
  sum(there: readonly string[]): Pick<Outcome, "bad" | "acked" | "lost" | "dup" | "p50" | "p99">;
}

export function createJournal(nowMs: () => number = () => performance.now()): Journal {
  const begun = new Map<string, number>();
  const acknowledged = new Set<string>();
  const told: string[] = [];
  const times: number[] = [];

  function check(there: readonly string[]) {
    const seen = new Set<string>();
    const dup = there.filter((entry) => seen.has(entry) || !seen.add(entry));
    return { lost: [...acknowledged].filter((entry) => !seen.has(entry)), dup };
  }

  return {
    acknowledged,
    told,
    times,
    began: (entry) => void begun.set(entry, nowMs()),
    acknowledge(...entries) {
      for (const entry of entries) {
        if (acknowledged.has(entry)) continue;
        acknowledged.add(entry);
        const beganMs = begun.get(entry);
        if (beganMs !== undefined) times.push(nowMs() - beganMs);
      }
    },
    bad: (what) => void told.push(what),
    check,
    sum(there) {
      const { lost, dup } = check(there);
      for (const entry of lost.slice(0, 5)) told.push(`lost: ${entry}`);
      for (const entry of dup.slice(0, 5)) told.push(`double: ${entry}`);
      return {
        bad: told.length - Math.min(lost.length, 5) - Math.min(dup.length, 5),
        acked: acknowledged.size,
        lost: lost.length,
        dup: dup.length,
        p50: percentile(times, 0.5),
        p99: percentile(times, 0.99),
      };
    },
  };
}
