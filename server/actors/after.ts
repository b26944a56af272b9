/** Runs something later, so that tests can hold the clock; returns the function that calls it off. */
export type After = (delayMs: number, run: () => void) => () => void;

/** A timer longer than this would fire at once. */
const maxDelayMs = 2 ** 31 - 1;

/** Real time. Such a timer does not keep the process alive. */
export const after: After = (delayMs, run) => {
  const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), maxDelayMs));
  timer.unref();
  return () => clearTimeout(timer);
};

/** Resolves after a while, or at once when the signal aborts. */
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
