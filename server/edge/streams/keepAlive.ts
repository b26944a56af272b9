/**
 * KeepAlive makes silent streams send a sign of life, so that proxies and clients see that the connection works.
 *
 * All streams share one timer, which runs only while there are streams. It visits those that are due within
 * `coalesceMs` together, so a thousand streams wake the process at most once in that time.
 */
import type { Clock } from "../../../realtime/ports.ts";

export interface KeptStream {
  /** Time of the last output, in Unix milliseconds. */
  readonly writtenAtMs: number;
  /** Sends the sign, unless the client does not read. */
  keepAlive(): void;
}

export interface KeepAlive {
  add(stream: KeptStream): void;
  delete(stream: KeptStream): void;
}

const coalesceMs = 1000;

export function createKeepAlive(clock: Clock, everyMs: number): KeepAlive {
  const streams = new Set<KeptStream>();
  let cancel: (() => void) | undefined;

  /** Sends a sign to every stream that is due before `endMs`. Returns the time at which the next of the others is due. */
  function send(endMs: number, nowMs: number): number {
    let nextMs = nowMs + everyMs;
    for (const stream of streams) {
      const dueMs = stream.writtenAtMs + everyMs;
      if (dueMs < endMs) stream.keepAlive();
      else nextMs = Math.min(nextMs, dueMs);
    }
    return nextMs;
  }

  function visit(): void {
    const nowMs = clock.now();
    const firstDueMs = send(Number.NEGATIVE_INFINITY, nowMs);
    const nextMs = firstDueMs > nowMs ? firstDueMs : send(nowMs + coalesceMs, nowMs);
    cancel = clock.after(nextMs - nowMs, visit);
  }

  return {
    add(stream) {
      streams.add(stream);
      cancel ??= clock.after(everyMs, visit);
    },
    delete(stream) {
      streams.delete(stream);
      if (streams.size > 0) return;
      cancel?.();
      cancel = undefined;
    },
  };
}
