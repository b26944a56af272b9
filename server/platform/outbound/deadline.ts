/**
 * Deadline is a signal that aborts after a time, or earlier if another signal aborts.
 *
 * It uses a plain controller, because Node 20 may garbage-collect a combination of `AbortSignal.any` and
 * `AbortSignal.timeout` before it has fired.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True if the time ran out. False if the other signal aborted first. */
  readonly passed: boolean;
  /** Releases the timer and the listener. Must be called when the work is over. */
  clear(): void;
}

export function startDeadline(timeoutMs: number, other?: AbortSignal): Deadline {
  const controller = new AbortController();
  const deadline = { signal: controller.signal, passed: false, clear };
  const follow = (): void => controller.abort(other?.reason);
  const timer = setTimeout(() => {
    if (controller.signal.aborted) return;
    deadline.passed = true;
    controller.abort(new DOMException("The deadline has passed.", "TimeoutError"));
  }, timeoutMs);
  if (other?.aborted === true) follow();
  else other?.addEventListener("abort", follow, { once: true });

  function clear(): void {
    clearTimeout(timer);
    other?.removeEventListener("abort", follow);
  }
  return deadline;
}
