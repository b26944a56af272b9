/**
 * Server-sent events as text: one event a piece, a sign of life while nothing comes. What the events are is the
 * caller's; how fast they go out is the host's, which waits while the client does not read.
 */
import type { Clock } from "../../realtime/ports.ts";

export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  /** One line. */
  readonly data: string;
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that gather answers would hold events back.
  "x-accel-buffering": "no",
} as const;

export function writeEvent({ event, id, data }: ServerSentEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

/** The items as they come; `sign` each time that long passed without one. Ends the source when its reader goes. */
export async function* withLifeSigns(source: AsyncIterable<string>, sign: string, everyMs: number, clock: Clock): AsyncGenerator<string> {
  const items = source[Symbol.asyncIterator]();
  try {
    let next = items.next();
    for (;;) {
      let cancel = () => {};
      const silence = new Promise<"silence">((resolve) => {
        cancel = clock.after(everyMs, () => resolve("silence"));
      });
      const found = await Promise.race([next, silence]).finally(() => cancel());
      if (found === "silence") {
        yield sign;
        continue;
      }
      if (found.done === true) return;
      yield found.value;
      next = items.next();
    }
  } finally {
    await items.return?.();
  }
}
