/**
 * Log writes one JSON line per entry to standard output, with the level as a word and the time in UTC.
 *
 * Lines whose field `stream` is `audit` report changes of keys, members, sessions, links, webhooks and acts of the
 * operator. Writing does not wait for the reader of standard output; `flush` waits, at the end of the process.
 */
import pino, { type Logger } from "pino";
import { maskSecrets } from "./maskSecrets.ts";

export interface Log {
  readonly log: Logger;
  /** Blocks until everything written so far has left the process. */
  flush(): void;
}

interface Destination {
  write(line: string): unknown;
  flushSync(): void;
}

export function createLog(level: string, destination: Destination = pino.destination({ dest: 1, sync: false })): Log {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line: string) {
        destination.write(maskSecrets(line));
      },
    },
  );
  return {
    log,
    flush() {
      try {
        destination.flushSync();
      } catch {
        // Standard output is closed or never opened, so the error cannot be reported anywhere.
      }
    },
  };
}
