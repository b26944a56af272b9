/**
 * After calls functions later. Long delays share timers.
 *
 * Thousands of open documents and sockets wait for their next keep-alive or review. With a timer each, an idle process
 * would wake up hundreds of times a second. Therefore a delay of two seconds or more ends at the next quarter of a
 * second, a delay of ten seconds or more at the next half, and all delays that end together use one timer.
 */

/** Calls `run` after a delay and returns a function that cancels the call. Tests pass a fake clock of this type. */
export type After = (delayMs: number, run: () => void) => () => void;

/** `setTimeout` fires at once for any delay above this value. */
const maxDelayMs = 2 ** 31 - 1;
/** Delays from `fromMs` on end at a multiple of `stepMs`. */
const steps = [
  { fromMs: 10_000, stepMs: 500 },
  { fromMs: 2000, stepMs: 250 },
] as const;

/** One function to call. An object of its own, because one function may be waiting twice. */
interface Waiting {
  readonly run: () => void;
}

interface SharedTimer {
  readonly waiting: Set<Waiting>;
  readonly timer: NodeJS.Timeout;
}

/** By the time at which the timer fires, in milliseconds of the process. */
const sharedTimers = new Map<number, SharedTimer>();

/** Uses the real clock: calls `run` after the delay or up to a step later. A pending timer does not keep the process alive. */
export const after: After = (delayMs, run) => {
  const stepMs = steps.find(({ fromMs }) => delayMs >= fromMs)?.stepMs;
  if (stepMs === undefined) return startTimer(delayMs, run);
  const nowMs = performance.now();
  const atMs = Math.ceil((nowMs + Math.min(delayMs, maxDelayMs - stepMs)) / stepMs) * stepMs;
  const shared = sharedTimers.get(atMs) ?? startShared(atMs, atMs - nowMs);
  const waiting = { run };
  shared.waiting.add(waiting);
  return () => {
    if (!shared.waiting.delete(waiting) || shared.waiting.size > 0) return;
    clearTimeout(shared.timer);
    sharedTimers.delete(atMs);
  };
};

function startShared(atMs: number, delayMs: number): SharedTimer {
  const waiting = new Set<Waiting>();
  const fire = () => {
    sharedTimers.delete(atMs);
    for (const one of waiting) {
      waiting.delete(one);
      one.run();
    }
  };
  const shared = { waiting, timer: setTimeout(fire, delayMs).unref() };
  sharedTimers.set(atMs, shared);
  return shared;
}

function startTimer(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, Math.max(delayMs, 0)).unref();
  return () => clearTimeout(timer);
}

/** Resolves after `delayMs`, or at once when the signal aborts. */
export function pause(delayMs: number, signal: AbortSignal, later: After = after): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const stop = later(delayMs, end);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
}
