/**
 * StreamService composes the live streams: their routes, the worker that trims their logs, and their shutdown.
 */

import { streams } from "../../../api/contract/streams.ts";
import type { Limits } from "../../../api/limits.ts";
import { notFound } from "../../../api/schema/error.ts";
import type { AgentEventName } from "../../../api/schema/timeline.ts";
import type { Clock } from "../../../realtime/ports.ts";
import type { ArticleActivity } from "../../domain/articles/articleActivity.ts";
import type { PublicPages } from "../../domain/publishing/service.ts";
import type { Topics } from "../../domain/topics/port.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import type { ServedRoute } from "../calls/restHttp.ts";
import type { CallWrapper } from "../calls/wrapper.ts";
import { createArticleStreams } from "./articleStreams.ts";
import { createFeeds } from "./feeds.ts";
import { createKeepAlive } from "./keepAlive.ts";
import { createPageReaders } from "./pageReaders.ts";
import { toPageStreamRoute } from "./pageStreamRoute.ts";
import { createPageStreams } from "./pageStreams.ts";
import type { OpenedStream, StreamStart } from "./port.ts";
import { createRetention } from "./retention.ts";
import { pageFormat, type StreamFormat } from "./streamFormat.ts";
import { type AdmittedReader, createStreamGate, type StreamGateOptions } from "./streamGate.ts";
import { createStreamLogs } from "./streamLogs.ts";
import { idOf, toStreamRoutes } from "./streamRoutes.ts";
import { createTimelines } from "./timelines.ts";
import { Viewer } from "./viewer.ts";

const keepAliveMs = 15_000;

export interface StreamServiceOptions extends Omit<StreamGateOptions, "limits"> {
  readonly storage: Storage;
  readonly topics: Pick<Topics, "find">;
  readonly activity: Pick<ArticleActivity, "watch">;
  readonly pages: Pick<PublicPages, "find">;
  /** Counted by this node alone. */
  readonly pageLimits: Pick<RateLimits, "draw">;
  readonly limits: Limits;
  readonly clock: Clock;
}

export interface StreamService {
  routes(calls: Pick<CallWrapper, "refuse">): readonly ServedRoute[];
  readonly manifest: Manifest;
  stats(): { readonly open: number };
  /** Ends all streams. Their readers reconnect to another server. */
  close(): void;
}

export function createStreamService(options: StreamServiceOptions): StreamService {
  const { storage, topics, activity, pages, limits, clock } = options;
  const gate = createStreamGate(options);
  const logs = createStreamLogs(storage, limits["sse.buffer"]);
  const timelines = createTimelines({ storage, logs });
  const articles = createArticleStreams({ storage, logs, activity });
  const publicPages = createPageStreams({ storage, logs });
  const readers = createPageReaders(options);
  const feeds = createFeeds({
    storage,
    logs,
    clock,
    sources: {
      run: timelines.runSource,
      timeline: timelines.workspaceSource,
      articleEvents: articles.source,
      publication: publicPages.source,
    },
    recentBytes: limits["sse.buffer"],
  });
  const viewers = { clock, keepAlive: createKeepAlive(clock, keepAliveMs), feeds };
  const view = (reader: AdmittedReader, opened: OpenedStream, format: StreamFormat) => new Viewer(viewers, reader, opened, format);
  const open = {
    articles: {
      events: (input: Readonly<Record<string, unknown>>) => articles.open(idOf(input, "articleId"), input as StreamStart),
    },
    runs: {
      timeline: (input: Readonly<Record<string, unknown>>) => timelines.openRun(idOf(input, "runId"), input as StreamStart),
    },
    workspaces: {
      async timeline(input: Readonly<Record<string, unknown>>) {
        const workspaceId = idOf(input, "workspaceId");
        const { runId, topicId, event } = input as { runId?: string; topicId?: string; event?: readonly AgentEventName[] };
        const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId);
        if (topicId !== undefined && topic === undefined) throw notFound();
        return timelines.openWorkspace(workspaceId, input as StreamStart, { runId, topicId: topic?.value.id, event });
      },
    },
  };
  return {
    routes: (calls) => [
      ...toStreamRoutes({ contract: streams, open, gate, calls, view }),
      toPageStreamRoute({
        ...{ pages, readers, streams: publicPages, calls },
        view: (reader, opened) => view(reader, opened, pageFormat),
      }),
    ],
    manifest: { name: "streams", workers: createRetention({ storage, limits }) },
    stats: () => ({ open: gate.open + readers.open }),
    close() {
      gate.close();
      readers.close();
    },
  };
}
