/**
 * followRun, followWorkspace and followArticle read event streams as async iterables. A stream that ends early is opened
 * again after its last token, so no event is lost or repeated (docs/timeline.md, docs/documentStream.md).
 */
import type { Api } from "./api.ts";
import { toApiError } from "./apiError.ts";
import { backoffMs } from "./backoff.ts";
import type { Contract } from "./contract.ts";
import { readEventStream } from "./eventStream.ts";

type ItemOf<Output> = Output extends AsyncIterable<infer Item, infer _Return, infer _Next> ? Item : never;
type TimelineItem = ItemOf<Contract["runs"]["timeline"]["output"]>["data"];
type ArticleItem = ItemOf<Contract["articles"]["events"]["output"]>["data"];

/** An event of a run, the same on every stream. Ignore events that you do not know. */
export type AgentEvent = Exclude<TimelineItem, { event: "stream.reset" }>;

/** An event of an article. Signals (`document.live`, `presence.joined`, `presence.left`) have no `id` and are not repeated. */
export type ArticleEvent = Exclude<ArticleItem, { event: "stream.reset" }>;

/** The requested events are no longer kept: replace your state with the snapshot. The stream continues after it. */
export type StreamReset = Extract<TimelineItem, { event: "stream.reset" }>;

export interface FollowOptions {
  /** Token of the last event that was read: `cursor` in the stream of a workspace, `id` in the others. */
  readonly lastEventId?: string;
  /** Where the stream begins without a token. A run begins at its start, the others now. */
  readonly from?: "start" | "now";
  /** Called each time the stream is open. State that was read earlier may lack changes that the stream does not repeat. */
  readonly onOpen?: () => void;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

export interface FollowRunOptions extends FollowOptions {
  readonly runId: string;
}

export interface FollowWorkspaceOptions extends FollowOptions {
  readonly workspaceId: string;
  /** Only events of this run. */
  readonly runId?: string;
  /** Only events of runs of this topic: an id, or a short id such as `T-1`. */
  readonly topicId?: string;
  /** Only events with these names. */
  readonly events?: readonly AgentEvent["event"][];
}

export interface FollowArticleOptions extends FollowOptions {
  readonly articleId: string;
}

/** Yields the events of a run until it has ended. Throws an ApiError if the server refuses the stream. */
export function followRun(
  api: Api,
  { runId, from, ...options }: FollowRunOptions,
): AsyncGenerator<AgentEvent | StreamReset, void, undefined> {
  return follow(api, `/runs/${encodeURIComponent(runId)}/stream`, [["from", from]], options);
}

/** Yields the events of all runs of a workspace until the signal is aborted. Throws an ApiError if the server refuses the stream. */
export function followWorkspace(
  api: Api,
  { workspaceId, from, runId, topicId, events = [], ...options }: FollowWorkspaceOptions,
): AsyncGenerator<AgentEvent | StreamReset, void, undefined> {
  const filters = [["from", from], ["runId", runId], ["topicId", topicId], ...events.map((event) => ["event", event] as const)] as const;
  return follow(api, `/workspaces/${encodeURIComponent(workspaceId)}/timeline/stream`, filters, options);
}

/** Yields the events of an article until it is deleted or the signal is aborted. Throws an ApiError if the server refuses the stream. */
export function followArticle(
  api: Api,
  { articleId, from, ...options }: FollowArticleOptions,
): AsyncGenerator<ArticleEvent | StreamReset, void, undefined> {
  return follow(api, `/articles/${encodeURIComponent(articleId)}/stream`, [["from", from]], options);
}

async function* follow<Event>(
  api: Api,
  path: string,
  filters: readonly (readonly [name: string, value: string | undefined])[],
  { lastEventId, onOpen, signal }: FollowOptions,
): AsyncGenerator<Event | StreamReset, void, undefined> {
  const query = new URLSearchParams(filters.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  let token = lastEventId;
  let failures = 0;
  while (signal?.aborted !== true) {
    let afterMs = 0;
    try {
      const body = await open(api, `${path}?${query}`, token, signal);
      if (body === null) return;
      onOpen?.();
      for await (const { event, id, data } of readEventStream(body)) {
        token = id ?? token;
        failures = 0;
        if (event === "stream.end") return;
        if (event === "stream.reset") yield { event, data: JSON.parse(data) };
        else if (data !== "") yield JSON.parse(data) as Event;
      }
    } catch (reason) {
      const error = toApiError(reason);
      if (error.code === "aborted") return;
      if (!error.isTemporary) throw error;
      afterMs = (error.retryAfter ?? 0) * 1000;
    }
    failures += 1;
    await pause(afterMs + backoffMs(failures, Math.random()), signal);
  }
}

/** Null after the last event of a finished run. */
async function open(api: Api, path: string, token: string | undefined, signal: AbortSignal | undefined) {
  const headers = { accept: "text/event-stream", ...(token === undefined ? {} : { "last-event-id": token }) };
  const answer = await api.fetch(path, { headers, cache: "no-store", ...(signal === undefined ? {} : { signal }) });
  return answer.status === 204 ? null : answer.body;
}

/** Resolves after the time, or at once when the signal is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
