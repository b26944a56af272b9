/**
 * A signal that ends after a time, or earlier with another signal. Made of a plain controller: Node 20 may collect
 * what `AbortSignal.any` and `AbortSignal.timeout` make together before it has fired.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The time was up; not the other signal. */
  readonly passed: boolean;
  /** Must be called when the work is over. */
  clear(): void;
}

export function startDeadline(timeoutMs: number, other?: AbortSignal): Deadline {
  const controller = new AbortController();
  const deadline = { signal: controller.signal, passed: false, clear };
  const follow = (): void => controller.abort(other?.reason);
  const timer = setTimeout(() => {
    if (controller.signal.aborted) return;
    deadline.passed = true;
    controller.abort(new DOMException("The time was up.", "TimeoutError"));
  }, timeoutMs);
  if (other?.aborted === true) follow();
  else other?.addEventListener("abort", follow, { once: true });

  function clear(): void {
    clearTimeout(timer);
    other?.removeEventListener("abort", follow);
  }
  return deadline;
}
