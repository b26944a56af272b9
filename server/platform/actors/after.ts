/** Calls `run` after a delay and returns a function that cancels the call. Tests pass a fake clock of this type. */
export type After = (delayMs: number, run: () => void) => () => void;

/** `setTimeout` fires at once for any delay above this value. */
const maxDelayMs = 2 ** 31 - 1;

/** Uses the real clock. A pending timer does not keep the process alive. */
export const after: After = (delayMs, run) => {
  const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), maxDelayMs));
  timer.unref();
  return () => clearTimeout(timer);
};

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
