/**
 * LogWatch wakes readers when a log has grown. All readers of one log share one bus subscription and one poll per second.
 *
 * The bus reports new entries at once. It may lose messages, so the log's tail is polled too while a reader waits.
 * Each reader reads the entries itself, by position, so a slow reader costs only its entry in the waiting list.
 * After a failure the store may have fewer entries than before. Therefore readers whose position is beyond the end of
 * the log are woken as well, so that they detect it.
 */
import type { Clock } from "./ports.ts";

export interface LogWatchOptions {
  readonly clock: Clock;
  readonly subscribe: (topic: string, listener: () => void) => () => void;
  /** Position of the last entry. */
  readonly tail: (log: string) => Promise<number>;
  readonly pollMs?: number;
}

export interface LogWatch {
  /** Starts watching a log. Call it before the first read, so that no entry between the read and the wait is missed. */
  watch(log: string): WatchedLog;
}

export interface WatchedLog {
  /** Resolves when the end of the log may differ from `position`, or when the signal aborts. */
  beyond(position: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface Hub {
  watchers: number;
  /** Position of the last entry when the tail was last read. */
  known: number;
  readonly waiting: Set<{ readonly position: number; readonly wake: () => void }>;
  readonly unsubscribe: () => void;
  cancelPoll: (() => void) | undefined;
  isReading: boolean;
  readsAgain: boolean;
}

export function createLogWatch({ clock, subscribe, tail, pollMs = 1000 }: LogWatchOptions): LogWatch {
  const hubs = new Map<string, Hub>();

  async function readTail(log: string, hub: Hub): Promise<void> {
    if (hub.isReading) {
      hub.readsAgain = true;
      return;
    }
    hub.isReading = true;
    try {
      do {
        hub.readsAgain = false;
        hub.known = await tail(log);
        for (const waiter of hub.waiting) if (waiter.position !== hub.known) waiter.wake();
      } while (hub.readsAgain);
    } catch {
      // The store does not answer now. The next poll tries again, and all waiting readers keep their position until then.
    } finally {
      hub.isReading = false;
    }
    poll(log, hub);
  }

  function poll(log: string, hub: Hub): void {
    if (hub.waiting.size === 0 || hub.watchers === 0) return;
    hub.cancelPoll ??= clock.after(pollMs, () => {
      hub.cancelPoll = undefined;
      void readTail(log, hub);
    });
  }

  function open(log: string): Hub {
    const found = hubs.get(log);
    if (found !== undefined) return found;
    const hub: Hub = {
      watchers: 0,
      known: 0,
      waiting: new Set(),
      unsubscribe: subscribe(log, () => void readTail(log, hub)),
      cancelPoll: undefined,
      isReading: false,
      readsAgain: false,
    };
    hubs.set(log, hub);
    return hub;
  }

  return {
    watch(log) {
      const hub = open(log);
      hub.watchers += 1;
      let isClosed = false;
      let asked = -1;
      return {
        beyond(position, signal) {
          // The reader asks again with the same position, so it could read no further although `known` is higher. Lower
          // `known`; otherwise the reader would be woken and read in an endless loop.
          if (position === asked) hub.known = Math.min(hub.known, position);
          asked = position;
          if (hub.known > position || signal.aborted || isClosed) return Promise.resolve();
          return new Promise((resolve) => {
            const wake = () => {
              hub.waiting.delete(waiter);
              signal.removeEventListener("abort", wake);
              resolve();
            };
            const waiter = { position, wake };
            hub.waiting.add(waiter);
            signal.addEventListener("abort", wake, { once: true });
            poll(log, hub);
          });
        },
        close() {
          if (isClosed) return;
          isClosed = true;
          hub.watchers -= 1;
          if (hub.watchers > 0) return;
          hub.cancelPoll?.();
          hub.unsubscribe();
          hubs.delete(log);
        },
      };
    },
  };
}
