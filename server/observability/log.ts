/**
 * The log: one JSON line each on standard output, with the level as a word and the time in UTC. The stream `audit`
 * (a field of the line) tells of keys, members, sessions, links, webhooks and operator acts.
 *
 * It is written without waiting for the reader of standard output; `flush` waits, at the end of the process.
 */
import pino, { type Logger } from "pino";
import { maskSecrets } from "./maskSecrets.ts";

export interface Log {
  readonly log: Logger;
  /** Everything written so far has left the process. */
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
        // Nobody reads standard output any more (or it never opened): there is nobody to tell.
      }
    },
  };
}
