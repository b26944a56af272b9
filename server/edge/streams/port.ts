/** Port defines the items of a live stream, independent of its transport, each with the token that resumes after it. */
import type { ArticleSignal, KeptArticleEvent } from "../../../api/schema/articleEvent.ts";
import type { AgentEvent, AgentEventName } from "../../../api/schema/timeline.ts";
import type { LogEntry } from "../../platform/storage/port.ts";

/** An event of a public page. Its readers get only `data`. */
export type PageEvent =
  | { readonly event: "page.updated"; readonly data: { readonly revision: number; readonly contentHash: string } }
  | { readonly event: "page.removed"; readonly data: Readonly<Record<string, never>> };

/** An event that a log keeps. */
export type StreamEvent = AgentEvent | KeptArticleEvent | PageEvent;

export type EventItem = { readonly kind: "event"; readonly token: string; readonly event: StreamEvent };
/** An event that no log keeps. It is sent only to the readers that are at the end of the log, and has no token. */
export type SignalItem = { readonly kind: "signal"; readonly event: ArticleSignal };

export type StreamItem =
  | EventItem
  | SignalItem
  /** The requested events are no longer stored. `snapshot` is the current state; the stream continues after `token`. */
  | { readonly kind: "reset"; readonly token: string; readonly snapshot: Readonly<Record<string, unknown>> }
  /** There is no event, but a reader that reconnects should resume after `token`. */
  | { readonly kind: "position"; readonly token: string }
  /** The run has ended, or the article was deleted, and there will be no more events. */
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
  /** Name of the log with its events. */
  readonly log: string;
  /** The reader has everything up to this position of the log. */
  readonly position: number;
  /** True for an event that the reader gets. Undefined if it gets all. */
  readonly keeps?: ((event: StreamEvent) => boolean) | undefined;
  /** No more events will come, and the reader already has all of them. */
  readonly isOver: boolean;
}

/** One kind of stream over a log. */
export interface TimelineSource {
  readonly log: string;
  toItem(entry: LogEntry): EventItem;
  toToken(position: number): string;
  /** Returns the current state and a position whose events it contains. */
  snapshot(): Promise<{ readonly snapshot: Readonly<Record<string, unknown>>; readonly tail: number }>;
  /** True if no more events will come. */
  isOver(): Promise<boolean>;
  /** Calls `show` with each signal until the returned function is called. Undefined for a stream without signals. */
  watch?(show: (item: SignalItem) => void): () => void;
}

/** Returns the source of the log of this owner: a run, a workspace, or an article (its events or its public page). */
export type OpenSource = (ownerId: string) => TimelineSource;
