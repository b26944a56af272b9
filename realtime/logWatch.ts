/**
 * Waits for logs to grow, for all who read the same log at once: one subscription and one look a second for each log
 * that somebody waits for. The bus says at once that there is more; since it may lose messages, the tail is looked at
 * too. Readers read by position themselves, so a slow one costs nothing but its place. A store that comes back from a
 * failure may hold less than before: readers who are beyond its end are woken as well, to find that out.
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
  /** Hold it before the first read: what comes after is told. */
  watch(log: string): WatchedLog;
}

export interface WatchedLog {
  /** Resolves when the log may end elsewhere than at this position, or the signal aborts. */
  beyond(position: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface Hub {
  watchers: number;
  /** Where the log ended at the last look. */
  known: number;
  readonly waiting: Set<{ readonly position: number; readonly wake: () => void }>;
  readonly unsubscribe: () => void;
  cancelPoll: (() => void) | undefined;
  isLooking: boolean;
  looksAgain: boolean;
}

export function createLogWatch({ clock, subscribe, tail, pollMs = 1000 }: LogWatchOptions): LogWatch {
  const hubs = new Map<string, Hub>();

  async function look(log: string, hub: Hub): Promise<void> {
    if (hub.isLooking) {
      hub.looksAgain = true;
      return;
    }
    hub.isLooking = true;
    try {
      do {
        hub.looksAgain = false;
        hub.known = await tail(log);
        for (const waiter of hub.waiting) if (waiter.position !== hub.known) waiter.wake();
      } while (hub.looksAgain);
    } catch {
      // A store that does not answer now is asked again at the next look; nobody has moved on meanwhile.
    } finally {
      hub.isLooking = false;
    }
    poll(log, hub);
  }

  function poll(log: string, hub: Hub): void {
    if (hub.waiting.size === 0 || hub.watchers === 0) return;
    hub.cancelPoll ??= clock.after(pollMs, () => {
      hub.cancelPoll = undefined;
      void look(log, hub);
    });
  }

  function open(log: string): Hub {
    const found = hubs.get(log);
    if (found !== undefined) return found;
    const hub: Hub = {
      watchers: 0,
      known: 0,
      waiting: new Set(),
      unsubscribe: subscribe(log, () => void look(log, hub)),
      cancelPoll: undefined,
      isLooking: false,
      looksAgain: false,
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
          // Come again to the same place, it has read less than was known: without this it would ask and read for ever.
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
