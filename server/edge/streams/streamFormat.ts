/**
 * StreamFormat has the forms in which a stream is sent: server-sent events, subscriptions of `@trpc/client`, and the events
 * of a public page.
 */
import { type ServerSentEvent, writeEvent, writeRetry } from "./eventStream.ts";
import type { StreamItem } from "./port.ts";

export interface StreamFormat {
  /** First bytes of every stream. */
  readonly head: Uint8Array;
  /** Sent while there is nothing else to send. */
  readonly keepAlive: Uint8Array;
  encode(item: StreamItem): Uint8Array;
}

/** Clients wait this long before they reconnect. */
export const retryMs = 2000;

/** The form for an EventSource. */
export const serverSentFormat: StreamFormat = {
  head: Buffer.from(writeRetry(retryMs)),
  keepAlive: Buffer.from(": still here\n\n"),
  encode: (item) => Buffer.from(writeEvent(toServerSent(item))),
};

/** The form for a subscription of `@trpc/client`. */
export const trpcFormat: StreamFormat = {
  head: Buffer.from(writeEvent({ event: "connected", data: "{}" })),
  keepAlive: Buffer.from(writeEvent({ event: "ping", data: "" })),
  encode: (item) => Buffer.from(writeEvent(toTrpcEvent(item))),
};

/** The form for an EventSource on a public page: an event has no envelope, because nothing else of it is public. */
export const pageFormat: StreamFormat = { ...serverSentFormat, encode: (item) => Buffer.from(writeEvent(toPageEvent(item))) };

function toPageEvent(item: StreamItem): ServerSentEvent {
  if (item.kind === "event" && "data" in item.event) {
    return { event: item.event.event, id: item.token, data: JSON.stringify(item.event.data) };
  }
  // The log of a restored backup is another one, so the reader gets the page as it is now.
  if (item.kind === "reset") return { event: String(item.snapshot.event), id: item.token, data: JSON.stringify(item.snapshot.data) };
  return toServerSent(item);
}

function toServerSent(item: StreamItem): ServerSentEvent {
  switch (item.kind) {
    case "event":
      return { event: item.event.event, id: item.token, data: JSON.stringify(item.event) };
    case "signal":
      return { event: item.event.event, data: JSON.stringify(item.event) };
    case "reset":
      return { event: "stream.reset", id: item.token, data: JSON.stringify({ snapshot: item.snapshot }) };
    case "position":
      return { event: "stream.position", id: item.token, data: "" };
    case "end":
      return { event: "stream.end", data: "{}" };
  }
}

function toTrpcEvent(item: StreamItem): ServerSentEvent {
  switch (item.kind) {
    case "event":
      return { id: item.token, data: JSON.stringify(item.event) };
    case "signal":
      // The client passes it on with the token of the last item before it.
      return { data: JSON.stringify(item.event) };
    case "reset":
      return { id: item.token, data: JSON.stringify({ event: "stream.reset", data: { snapshot: item.snapshot } }) };
    case "position":
      return { event: "restore-id", id: item.token, data: "" };
    case "end":
      return { event: "return", data: "" };
  }
}
