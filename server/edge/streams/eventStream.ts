/**
 * EventStream formats server-sent events.
 *
 * Each text holds one event. The caller chooses the content of the events.
 */
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
