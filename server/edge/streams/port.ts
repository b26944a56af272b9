/** Port defines a live stream, independent of its transport: items, each with the token that resumes after it. */
import type { AgentEvent, AgentEventName } from "../../../api/schema/timeline.ts";

export type StreamItem =
  | { readonly kind: "event"; readonly token: string; readonly event: AgentEvent }
  /** The requested events are no longer stored. `snapshot` is the current state; the stream continues after `token`. */
  | { readonly kind: "reset"; readonly token: string; readonly snapshot: Readonly<Record<string, unknown>> }
  /** There is no event, but a reader that reconnects should resume after `token`. */
  | { readonly kind: "position"; readonly token: string }
  /** The run has ended and will have no more events. */
  | { readonly kind: "end" };

/** Position at which a reader begins. */
export interface StreamStart {
  readonly from?: "start" | "now" | undefined;
  /** Resume token of the last item that the reader has received. It overrides `from`. */
  readonly lastEventId?: string | undefined;
}

export interface TimelineFilter {
  readonly runId?: string | undefined;
  /** Full id, not a short id. */
  readonly topicId?: string | undefined;
  readonly event?: readonly AgentEventName[] | undefined;
}

/** A stream that is ready to be read. */
export interface OpenedStream {
  items(signal: AbortSignal): AsyncIterable<StreamItem>;
  /** The run has ended and the reader already has all of its events. */
  readonly isOver: boolean;
}
