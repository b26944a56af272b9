/**
 * WorkLimit limits how long a thread or process works on one task.
 *
 * The limit counts processor time, so a busy machine does not make a task look like too much work (PL24). On the clock a
 * task may take `maxStretch` times as long. Where processor time is unknown, the limit is the time on the clock.
 */

/**
 * Most time on the clock that a task may take, in multiples of its limit. Beside a busy thread of normal priority, a
 * worker of low priority gets about a tenth of a processor.
 */
const maxStretch = 20;
/** Shortest pause before the processor time is read again: the clock ticks of /proc are as long. */
const recheckMs = 10;

/**
 * Calls `stop` when the task has worked for `maxMs` ("tooMuch"), or when it could not do so within `maxStretch` times as
 * long ("starved"). Returns the function that cancels this. `readUsedMs` returns the processor time so far.
 */
export function limitWork(readUsedMs: () => number | undefined, maxMs: number, stop: (kind: "tooMuch" | "starved") => void): () => void {
  const startedAtMs = performance.now();
  const usedBeforeMs = readUsedMs();
  let timer: NodeJS.Timeout;
  const check = () => {
    const usedMs = readUsedMs();
    if (usedMs === undefined || usedBeforeMs === undefined) return stop("tooMuch");
    const leftMs = usedBeforeMs + maxMs - usedMs;
    if (leftMs <= 0) return stop("tooMuch");
    const patienceMs = startedAtMs + maxMs * maxStretch - performance.now();
    if (patienceMs <= 0) return stop("starved");
    timer = setTimeout(check, Math.max(recheckMs, Math.min(leftMs, patienceMs)));
  };
  timer = setTimeout(check, maxMs);
  return () => clearTimeout(timer);
}
