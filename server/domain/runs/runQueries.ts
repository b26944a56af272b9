/** The run queries list and find runs, and read their artifacts and events. */
import { notFound } from "../../../api/schema/error.ts";
import { type Run, type RunStatus, runStatuses } from "../../../api/schema/run.ts";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { partitionCount, type Storage } from "../../platform/storage/port.ts";
import type { Call } from "../call/call.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { present } from "../call/present.ts";
import { refuseField } from "../call/refuseField.ts";
import type { Topics } from "../topics/port.ts";
import type { Artifacts } from "./engine/artifacts.ts";
import { runLog } from "./engine/timelineEntry.ts";
import {
  type ArtifactRecord,
  artifactRecord,
  artifactsOf,
  type RunRecord,
  runCount,
  runLists,
  runRecord,
  statusOf,
} from "./model/records.ts";
import { toRunView } from "./model/runView.ts";

export interface RunFilter extends PageQuery {
  readonly status?: readonly RunStatus[] | undefined;
  /** Id or short id. */
  readonly topicId?: string | undefined;
  readonly articleId?: string | undefined;
  readonly workflowId?: string | undefined;
}

export interface FoundRun {
  readonly run: Run;
  readonly revision: number;
}

export interface RunQueries {
  list(workspaceId: string, filter: RunFilter): Promise<Page<Run>>;
  get(runId: string): Promise<FoundRun>;
  artifacts(runId: string, page: PageQuery): Promise<Page<ArtifactRecord>>;
  artifact(runId: string, artifactKey: string): Promise<{ readonly artifact: ArtifactRecord; bytes(): Promise<Uint8Array> }>;
  events(
    call: Call,
    runId: string,
    where: { readonly afterSeq?: number | undefined; readonly limit?: number | undefined },
  ): Promise<{ readonly events: readonly AgentEvent[]; readonly lastSeq: number }>;
  /** Number of runs by status over all workspaces, for the metrics. */
  count(): Promise<ReadonlyMap<RunStatus, number>>;
}

/** Reads the log of a run. */
export interface RunTimeline {
  events(runId: string, afterSeq: number, limit: number): Promise<{ readonly events: readonly AgentEvent[]; readonly lastSeq: number }>;
}

export interface RunQueriesOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts" | "log">;
  readonly topics: Pick<Topics, "find">;
  readonly artifacts: Pick<Artifacts, "find" | "bytes">;
  readonly timeline: RunTimeline;
  readonly pager: Pager;
}

export function createRunQueries({ storage, topics, artifacts, timeline, pager }: RunQueriesOptions): RunQueries {
  function tailOf(runId: string): Promise<number> {
    return storage.log.tail(partitionOfId(runId), runLog(runId));
  }

  /** The smallest index list, or group of lists, that contains every run that matches the filter. */
  function listOf(workspaceId: string, { status = [], articleId, workflowId }: RunFilter, topicId: string | undefined) {
    if (topicId !== undefined) return runLists.ofTopic(topicId);
    if (articleId !== undefined) return runLists.ofArticle(articleId);
    if (status.length > 0) return { groups: [[...new Set(status)].map((one) => runLists.ofStatus(workspaceId, one))] };
    return workflowId === undefined ? runLists.all(workspaceId) : runLists.ofWorkflow(workspaceId, workflowId);
  }

  return {
    async list(workspaceId, filter) {
      const { status, articleId, workflowId, limit, nextToken } = filter;
      const topic = filter.topicId === undefined ? undefined : await topics.find(workspaceId, filter.topicId);
      if (filter.topicId !== undefined && topic === undefined) return { items: [] };
      const found = await pager.page<RunRecord>({
        scope: `runs?${JSON.stringify([workspaceId, status ?? null, topic?.value.id ?? null, articleId ?? null, workflowId ?? null])}`,
        partition: partitionOfId(workspaceId),
        prefix: listOf(workspaceId, filter, topic?.value.id),
        reverse: true,
        limit,
        nextToken,
        load: async (keys) => (await storage.records.getMany(runRecord, keys)).map((stored) => stored?.value),
        keep: (run) =>
          run.context.workspaceId === workspaceId &&
          (status === undefined || status.includes(statusOf(run))) &&
          (articleId === undefined || run.context.articleId === articleId) &&
          (workflowId === undefined || run.context.workflowId === workflowId),
      });
      const items = await Promise.all(found.items.map(async (run) => toRunView(run, await tailOf(run.id))));
      return { items, ...present({ nextToken: found.nextToken }) };
    },

    async get(runId) {
      const [run, lastSeq] = await Promise.all([storage.records.get(runRecord, runId), tailOf(runId)]);
      if (run === undefined) throw notFound();
      return { run: toRunView(run.value, lastSeq), revision: run.revision };
    },

    artifacts: (runId, { limit, nextToken }) =>
      pager.page<ArtifactRecord>({
        scope: "artifacts",
        partition: partitionOfId(runId),
        prefix: artifactsOf(runId),
        reverse: true,
        limit,
        nextToken,
        load: async (keys) => (await storage.records.getMany(artifactRecord, keys)).map((stored) => stored?.value),
      }),

    async artifact(runId, artifactKey) {
      const artifact = await artifacts.find(runId, artifactKey);
      if (artifact === undefined) throw notFound();
      return { artifact, bytes: () => artifacts.bytes(artifact) };
    },

    events(call, runId, { afterSeq = 0, limit = call.limits["list.limitMax"] }) {
      if (limit > call.limits["list.limitMax"]) throw refuseField("limit", `must be at most ${call.limits["list.limitMax"]}`);
      return timeline.events(runId, afterSeq, limit);
    },

    async count() {
      const keys = runStatuses.map(runCount);
      const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
      const counted = await Promise.all(partitions.map((partition) => storage.counts.get(partition, keys)));
      return new Map(runStatuses.map((status, at) => [status, counted.reduce((sum, counts) => sum + (counts[at] ?? 0), 0)]));
    },
  };
}
