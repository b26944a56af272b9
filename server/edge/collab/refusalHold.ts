/**
 * RefusalHold delays clients that reconnect again and again with a refused credential (RT52).
 *
 * y-websocket before 3.1 resets its backoff when a socket opens and ignores the close code. A refused client therefore
 * reconnects ten times a second. Once a caller has used up `rate.refusals`, the answer to its upgrade request is delayed
 * by `socket.refusalMs`. A held upgrade costs only an HTTP request: no socket, no buffer, no room.
 */
import { LRUCache } from "lru-cache";
import type { Limits } from "../../../api/limits.ts";
import type { Clock } from "../../../realtime/ports.ts";
import { TokenBucket } from "../../../realtime/tokenBucket.ts";

/** Largest number of callers with a counter. Beyond it, the caller whose last refusal is oldest is dropped. */
const maxCallers = 10_000;

export interface RefusalHold {
  /** Counts one refusal of `caller`. */
  count(caller: string): void;
  /** Resolves when the refusal may be answered: at once, after the hold, or when the client disconnects. */
  wait(caller: string, signal: AbortSignal): Promise<void>;
  /** Ends all holds. */
  stop(): void;
}

export function createRefusalHold({ limits, clock }: { readonly limits: Limits; readonly clock: Clock }): RefusalHold {
  const buckets = new LRUCache<string, TokenBucket>({ max: maxCallers });
  const held = new Set<() => void>();

  return {
    count(caller) {
      const nowMs = clock.now();
      const bucket = buckets.get(caller) ?? new TokenBucket(limits["rate.refusals"], nowMs);
      bucket.take(1, nowMs);
      buckets.set(caller, bucket);
    },
    async wait(caller, signal) {
      const mustWait = (buckets.peek(caller)?.waitMs(1, clock.now()) ?? 0) > 0;
      if (!mustWait || signal.aborted || held.size >= limits["sockets.held"]) return;
      await new Promise<void>((resolve) => {
        const end = () => {
          cancel();
          signal.removeEventListener("abort", end);
          held.delete(end);
          resolve();
        };
        const cancel = clock.after(limits["socket.refusalMs"], end);
        signal.addEventListener("abort", end);
        held.add(end);
      });
    },
    stop() {
      for (const end of [...held]) end();
    },
  };
}
