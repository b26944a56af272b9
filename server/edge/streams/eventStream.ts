/**
 * EventStream formats server-sent events and adds keep-alive messages while no event comes.
 *
 * Each text piece holds one event. The caller chooses the content of the events. The host applies backpressure while
 * the client does not read, so this module must not buffer.
 */
import type { Clock } from "../../../realtime/ports.ts";

export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  /** One line. If it is empty, the client stores the id but dispatches no event. */
  readonly data: string;
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Turns off response buffering in proxies such as nginx, which would delay events.
  "x-accel-buffering": "no",
} as const;

export function writeEvent({ event, id, data }: ServerSentEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

/** Returns the whole body of an event stream that ends at once. An EventSource reconnects after `retryMs`. */
export function writeRetry(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}

/** True if the client is probably an EventSource. An EventSource stops reconnecting after any status other than 200. */
export function wantsEventStream(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes("text/event-stream") === true;
}

/** Yields the items of `source`, and `keepAlive` after each `everyMs` without an item. Ends `source` when the reader stops. */
export async function* withKeepAlive(
  source: AsyncIterable<string>,
  keepAlive: string,
  everyMs: number,
  clock: Clock,
): AsyncGenerator<string> {
  const items = source[Symbol.asyncIterator]();
  // The handlers are attached once per item, not once per `keepAlive`: otherwise a long wait would collect handlers.
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
        yield keepAlive;
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
