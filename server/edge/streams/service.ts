/**
 * StreamService composes the live streams: their routes, the worker that trims their logs, and their shutdown.
 */

import { streams } from "../../../api/contract/streams.ts";
import type { Limits } from "../../../api/limits.ts";
import { notFound } from "../../../api/schema/error.ts";
import type { AgentEventName } from "../../../api/schema/timeline.ts";
import type { Clock } from "../../../realtime/ports.ts";
import type { Topics } from "../../domain/topics/port.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ServedRoute } from "../calls/restHttp.ts";
import type { CallWrapper } from "../calls/wrapper.ts";
import { createKeepAlive } from "./keepAlive.ts";
import { createTimelineRetention } from "./retention.ts";
import { createStreamGate, type StreamGateOptions } from "./streamGate.ts";
import { idOf, toStreamRoutes } from "./streamRoutes.ts";
import { createTimelines } from "./timelines.ts";
import { Viewer } from "./viewer.ts";

const keepAliveMs = 15_000;

export interface StreamServiceOptions extends Omit<StreamGateOptions, "limits"> {
  readonly storage: Storage;
  readonly topics: Pick<Topics, "find">;
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

interface StartInput {
  readonly from?: "start" | "now";
  readonly lastEventId?: string;
}

export function createStreamService(options: StreamServiceOptions): StreamService {
  const { storage, topics, limits, clock } = options;
  const gate = createStreamGate(options);
  const timelines = createTimelines({ storage, clock, readAheadBytes: limits["sse.buffer"] });
  const viewers = { clock, keepAlive: createKeepAlive(clock, keepAliveMs), feeds: timelines.feeds };
  const open = {
    runs: {
      timeline: (input: Readonly<Record<string, unknown>>) => timelines.openRun(idOf(input, "runId"), input as StartInput),
    },
    workspaces: {
      async timeline(input: Readonly<Record<string, unknown>>) {
        const workspaceId = idOf(input, "workspaceId");
        const { runId, topicId, event } = input as { runId?: string; topicId?: string; event?: readonly AgentEventName[] };
        const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId);
        if (topicId !== undefined && topic === undefined) throw notFound();
        return timelines.openWorkspace(workspaceId, input as StartInput, { runId, topicId: topic?.value.id, event });
      },
    },
  };
  return {
    routes: (calls) =>
      toStreamRoutes({
        contract: streams,
        open,
        gate,
        calls,
        view: (reader, opened, format) => new Viewer(viewers, reader, opened, format),
      }),
    manifest: { name: "streams", workers: createTimelineRetention({ storage, limits }) },
    stats: () => ({ open: gate.open }),
    close: () => gate.close(),
  };
}
