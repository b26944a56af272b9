/**
 * Server-sent events as text: one event a piece, a sign of life while nothing comes. What the events are is the
 * caller's; how fast they go out is the host's, which waits while the client does not read.
 */
import type { Clock } from "../../realtime/ports.ts";

export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  /** One line; empty: the reader keeps the id and hears nothing. */
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

/** An event stream that is over at once: whoever reads event streams comes again after `retryMs`. */
export function comeAgain(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}

/** Asked by an EventSource, which takes any status but 200 for the end of all attempts. */
export function wantsEventStream(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes("text/event-stream") === true;
}

/** The items as they come; `sign` each time that long passed without one. Ends the source when its reader goes. */
export async function* withLifeSigns(source: AsyncIterable<string>, sign: string, everyMs: number, clock: Clock): AsyncGenerator<string> {
  const items = source[Symbol.asyncIterator]();
  // One reaction for each item, however long it is in coming.
  let settled: { readonly result: IteratorResult<string> } | { readonly reason: unknown } | undefined;
  let wake = () => {};
  const ask = () => {
    settled = undefined;
    items.next().then(
      (result) => {
        settled = { result };
        wake();
      },
      (reason: unknown) => {
        settled = { reason };
        wake();
      },
    );
  };
  try {
    ask();
    for (;;) {
      if (settled === undefined) {
        let cancel = () => {};
        await new Promise<void>((resolve) => {
          wake = resolve;
          cancel = clock.after(everyMs, resolve);
        });
        cancel();
      }
      if (settled === undefined) {
        yield sign;
        continue;
      }
      if ("reason" in settled) throw settled.reason;
      if (settled.result.done === true) return;
      yield settled.result.value;
      ask();
    }
  } finally {
    await items.return?.();
  }
}
