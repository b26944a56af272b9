/**
 * The run requests start, find, list, cancel and retry runs, and read their artifacts and events.
 *
 * The run machine decides which event a run accepts. A unique rule of the store ensures that a topic has at most one
 * active run. This module executes no step.
 */
import { notFound } from "../../../api/schema/error.ts";
import { type Run, type RunBudget, type RunStatus, runStatuses } from "../../../api/schema/run.ts";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import { systemActor } from "../../../machines/agentRun.ts";
import type { ActorChange, ActorRuntime, Alongside } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { partitionCount, type Storage, type Stored } from "../../platform/storage/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import type { Page, Pager } from "../call/paging.ts";
import { present } from "../call/present.ts";
import { principalOf } from "../call/principal.ts";
import { checkProse } from "../call/prose.ts";
import { commitTogether, joinParts, type Part } from "../call/together.ts";
import type { TopicRecord, Topics } from "../topics/port.ts";
import type { Artifacts } from "./engine/artifacts.ts";
import { type RunStarter, requireLiveArticle, stagesOf } from "./engine/startRun.ts";
import { runLog } from "./engine/timelineEntry.ts";
import {
  type ArtifactRecord,
  artifactRecord,
  artifactsOf,
  isActive,
  type RunKind,
  type RunRecord,
  runCount,
  runLists,
  runRecord,
  statusOf,
} from "./model/records.ts";
import { refuseField } from "./model/refuseField.ts";
import type { RefuseSecondRun } from "./model/runInProgress.ts";
import { toRunView } from "./model/runView.ts";
import { requireStyleOf } from "./workflows/styles.ts";
import type { Workflows } from "./workflows/workflows.ts";

export interface StartRun {
  readonly workspaceId: string;
  readonly topicId?: string | undefined;
  readonly articleId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
  readonly budget?: RunBudget | undefined;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[] | undefined;
  /** Id or short id. */
  readonly topicId?: string | undefined;
  readonly articleId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly limit?: number | undefined;
  readonly nextToken?: string | undefined;
}

export interface FoundRun {
  readonly run: Run;
  readonly revision: number;
}

export interface Runs {
  start(call: Call, workflowId: string, request: StartRun): Promise<Run>;
  list(workspaceId: string, filter: RunFilter): Promise<Page<Run>>;
  get(runId: string): Promise<FoundRun>;
  cancel(call: Call, runId: string, request: { readonly reason?: string | undefined }): Promise<Run>;
  retry(
    call: Call,
    runId: string,
    request: { readonly fromStep?: string | undefined; readonly budget?: RunBudget | undefined },
  ): Promise<Run>;
  artifacts(
    runId: string,
    page: { readonly limit?: number | undefined; readonly nextToken?: string | undefined },
  ): Promise<Page<ArtifactRecord>>;
  artifact(runId: string, artifactKey: string): Promise<{ readonly artifact: ArtifactRecord; bytes(): Promise<Uint8Array> }>;
  events(
    call: Call,
    runId: string,
    where: { readonly afterSeq?: number | undefined; readonly limit?: number | undefined },
  ): Promise<{ readonly events: readonly AgentEvent[]; readonly lastSeq: number }>;
  /** Workspace of the run, for the access check. Undefined when the run does not exist. */
  locate(runId: string): Promise<{ readonly workspaceId: string } | undefined>;
  /** Number of runs by status over all workspaces, for the metrics. */
  count(): Promise<ReadonlyMap<RunStatus, number>>;
  /** Changes for the commit that deletes an article: they cancel the active runs that write this article. */
  articleDeleted(article: { readonly articleId: string }): Promise<Alongside>;
}

/** Reads the log of a run. */
export interface RunTimeline {
  events(runId: string, afterSeq: number, limit: number): Promise<{ readonly events: readonly AgentEvent[]; readonly lastSeq: number }>;
}

export interface RunsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts" | "log" | "now">;
  readonly actors: Pick<ActorRuntime, "move">;
  readonly kind: () => RunKind;
  readonly topics: Pick<Topics, "find">;
  readonly folders: { exists(workspaceId: string, folderId: string): Promise<boolean> };
  readonly starter: RunStarter;
  readonly workflows: Workflows;
  readonly artifacts: Pick<Artifacts, "find" | "bytes">;
  readonly refuseSecondRun: RefuseSecondRun;
  readonly timeline: RunTimeline;
  readonly pager: Pager;
}

const maxDeleted = 1000;
/** Number of newest runs of the article that are searched for later writers of a file. */
const maxFollowers = 100;
const writesArticle = ({ context }: RunRecord) => context.steps.some(({ persistToArticle }) => persistToArticle !== undefined);

export function createRuns(options: RunsOptions): Runs {
  const { storage, actors, kind, topics, folders, starter, workflows, artifacts, refuseSecondRun, timeline, pager } = options;

  async function find(runId: string): Promise<Stored<RunRecord>> {
    const run = await storage.records.get(runRecord, runId);
    if (run === undefined) throw notFound();
    return run;
  }

  function tailOf(runId: string): Promise<number> {
    return storage.log.tail(partitionOfId(runId), runLog(runId));
  }

  /** View of the run after the commit of this change, including the timeline entries that the change appends. */
  async function viewOf(change: ActorChange<RunRecord["context"]>): Promise<Run> {
    const { id } = change.next;
    const told = (change.batch.logs ?? []).reduce(
      (sum, write) => (write.op === "append" && write.log === runLog(id) ? sum + write.entries.length : sum),
      0,
    );
    return toRunView(change.next, (await tailOf(id)) + told);
  }

  /**
   * Names of the interrupted steps whose file another run wrote after this run ended. A retry must not revert what
   * these steps wrote, because the other run continued from it.
   */
  async function findFollowed({ id, context: { articleId, finishedAtMs, steps } }: RunRecord): Promise<readonly string[]> {
    const interrupted = steps.filter(({ writers }) => writers.length > 0);
    if (articleId === undefined || finishedAtMs === undefined || interrupted.length === 0) return [];
    const partition = partitionOfId(id);
    const rows = await storage.index.scan({ partition, prefix: runLists.ofArticle(articleId), reverse: true, limit: maxFollowers });
    const runs = await storage.records.getMany(
      runRecord,
      rows.map(({ target }) => target),
    );
    const others = runs.flatMap((stored) => (stored === undefined || stored.value.id === id ? [] : [stored.value.context]));
    const since = others.filter(({ finishedAtMs: endedAtMs = Number.POSITIVE_INFINITY }) => endedAtMs > finishedAtMs);
    const written = new Set(
      since.flatMap((other) => other.steps.flatMap((step) => (step.attempt > 0 ? [step.persistToArticle?.file] : []))),
    );
    return interrupted.filter(({ persistToArticle }) => written.has(persistToArticle?.file)).map(({ name }) => name);
  }

  async function findTarget(request: StartRun): Promise<{ topic?: Stored<TopicRecord>; article?: ArticleRecord }> {
    const { workspaceId, topicId, articleId, folderId } = request;
    const given = [topicId, articleId, folderId].filter((id) => id !== undefined);
    if (given.length > 1)
      throw refuseField(articleId === undefined || topicId === undefined ? "folderId" : "articleId", "must be the only target");
    if (topicId !== undefined) {
      const topic = await topics.find(workspaceId, topicId);
      if (topic === undefined) throw refuseField("topicId", "must be a topic of the workspace");
      return { topic };
    }
    if (folderId !== undefined && !(await folders.exists(workspaceId, folderId)))
      throw refuseField("folderId", "must be a folder of the workspace");
    if (articleId === undefined) return {};
    const article = (await storage.records.get(articleRecord, articleId))?.value;
    if (article === undefined || article.workspaceId !== workspaceId || article.deletedAtMs !== undefined) {
      throw refuseField("articleId", "must be an article of the workspace that is not in the trash");
    }
    // A run of an article that belongs to a topic is also a run of that topic.
    const topic = article.topicId === undefined ? undefined : await topics.find(workspaceId, article.topicId);
    return topic?.value.context.articleId === articleId ? { topic } : { article };
  }

  /** The smallest index list, or group of lists, that contains every run that matches the filter. */
  function listOf(workspaceId: string, { status = [], articleId, workflowId }: RunFilter, topicId: string | undefined) {
    if (topicId !== undefined) return runLists.ofTopic(topicId);
    if (articleId !== undefined) return runLists.ofArticle(articleId);
    if (status.length > 0) return { groups: [[...new Set(status)].map((one) => runLists.ofStatus(workspaceId, one))] };
    return workflowId === undefined ? runLists.all(workspaceId) : runLists.ofWorkflow(workspaceId, workflowId);
  }

  return {
    async start(call, workflowId, request) {
      checkProse(call.limits, request);
      const { workspaceId } = request;
      const workflow = workflows.find(workflowId);
      const runId = call.ids.next("run", partitionOfId(workspaceId));
      const principal = principalOf(call);
      await requireStyleOf(storage, workspaceId, request.styleProfileId);
      return refuseSecondRun(() =>
        commitTogether(partitionOfId(workspaceId), call.commit.bind(call), async () => {
          const { topic, article } = await findTarget(request);
          const prepared = await starter.prepare({
            runId,
            workspaceId,
            workflow,
            topic,
            article,
            by: { username: principal.username, accountId: principal.accountId, kind: principal.kind === "key" ? "key" : "user" },
            ids: call.ids,
            nowMs: storage.now(),
            folderId: request.folderId,
            instructions: request.instructions,
            styleProfileId: request.styleProfileId,
            budget: request.budget,
            traceparent: call.traceparent,
          });
          const parts = topic === undefined ? prepared.parts : starter.withTopic(prepared.parts, topic, prepared.topicEvents);
          return { parts, value: await viewOf(prepared.run) };
        }),
      );
    },

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
      const [{ value, revision }, lastSeq] = await Promise.all([find(runId), tailOf(runId)]);
      return { run: toRunView(value, lastSeq), revision };
    },

    async cancel(call, runId, { reason }) {
      checkProse(call.limits, { reason });
      const by = principalOf(call).username;
      return commitTogether(partitionOfId(runId), call.commit.bind(call), async () => {
        const change = actors.move(kind(), await find(runId), { type: "run.cancel", by, reason });
        return { parts: [change], value: await viewOf(change) };
      });
    },

    async retry(call, runId, { fromStep, budget }) {
      const by = principalOf(call).username;
      const partition = partitionOfId(runId);
      return refuseSecondRun(() =>
        commitTogether(partition, call.commit.bind(call), async () => {
          const run = await find(runId);
          const { steps, at, workspaceId, topicId, articleId } = run.value.context;
          const from = fromStep === undefined ? at : steps.findIndex(({ name }) => name === fromStep);
          if (!isActive(run.value) && statusOf(run.value) !== "completed" && (from < 0 || from > at)) {
            throw refuseField("fromStep", "must name a step that the run has started");
          }
          const waiting = steps.filter(({ approval }) => approval !== "none");
          const approvalIds = Object.fromEntries(waiting.map(({ name }) => [name, call.ids.next("apr", partition)]));
          const letsStand = await findFollowed(run.value);
          const change = actors.move(kind(), run, { type: "run.retry", by, fromStep, budget, approvalIds, letsStand });
          if (writesArticle(run.value) && articleId !== undefined) await requireLiveArticle(storage, articleId, "the run");
          const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId);
          const startedRun = { runId, stages: stagesOf({ steps }) };
          const parts: readonly Part[] =
            topic === undefined ? [change] : starter.withTopic([change], topic, [{ type: "run.start", startedRun, by }]);
          return { parts, value: await viewOf(change) };
        }),
      );
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

    async locate(runId) {
      const run = await storage.records.get(runRecord, runId);
      return run === undefined ? undefined : { workspaceId: run.value.context.workspaceId };
    },

    async count() {
      const keys = runStatuses.map(runCount);
      const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
      const counted = await Promise.all(partitions.map((partition) => storage.counts.get(partition, keys)));
      return new Map(runStatuses.map((status, at) => [status, counted.reduce((sum, counts) => sum + (counts[at] ?? 0), 0)]));
    },

    async articleDeleted({ articleId }) {
      const partition = partitionOfId(articleId);
      const rows = await storage.index.scan({ partition, prefix: runLists.activeOfArticle(articleId), limit: maxDeleted });
      const runs = await storage.records.getMany(
        runRecord,
        rows.map(({ target }) => target),
      );
      const reason = "The article was deleted.";
      // Skip runs that ended after the index was read: there is nothing to cancel.
      const writing = runs.filter((stored) => stored !== undefined && isActive(stored.value) && writesArticle(stored.value));
      return joinParts(
        writing.flatMap((stored) =>
          stored === undefined ? [] : [actors.move(kind(), stored, { type: "run.cancel", by: systemActor, reason })],
        ),
      );
    },
  };
}
