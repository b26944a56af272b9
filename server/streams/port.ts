/** What a live stream is, whatever carries it: items, each with the token by which a reader resumes behind it. */
import type { AgentEvent, AgentEventName } from "../../api/schema/timeline.ts";

export type StreamItem =
  | { readonly kind: "event"; readonly token: string; readonly event: AgentEvent }
  /** What is wanted is not kept any more: what the stream is about, as it is now. Goes on from `token`. */
  | { readonly kind: "reset"; readonly token: string; readonly snapshot: Readonly<Record<string, unknown>> }
  /** Nothing to tell, but where a reader would go on from. */
  | { readonly kind: "position"; readonly token: string }
  /** The run is over and will say nothing more. */
  | { readonly kind: "end" };

/** Where a reader begins. */
export interface StreamStart {
  readonly from?: "start" | "now" | undefined;
  /** Resume token of the last item the reader has; goes before `from`. */
  readonly lastEventId?: string | undefined;
}

export interface TimelineFilter {
  readonly runId?: string | undefined;
  /** Not a short id. */
  readonly topicId?: string | undefined;
  readonly event?: readonly AgentEventName[] | undefined;
}

/** A stream that is ready to be read; `undefined` items mean that there is nothing left to say. */
export interface OpenedStream {
  items(signal: AbortSignal): AsyncIterable<StreamItem>;
  /** The reader has all of a run that is over. */
  readonly isOver: boolean;
}
