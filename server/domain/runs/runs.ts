/**
 * The run requests start, cancel and retry runs. `runQueries.ts` finds and lists them.
 *
 * The run machine decides which event a run accepts. A unique rule of the store ensures that a topic has at most one
 * active run. This module executes no step.
 */
import { notFound } from "../../../api/schema/error.ts";
import type { Run, RunBudget } from "../../../api/schema/run.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import { principalOf } from "../call/principal.ts";
import { checkProse } from "../call/prose.ts";
import { refuseField } from "../call/refuseField.ts";
import type { TopicRecord, Topics } from "../topics/port.ts";
import { requireLiveArticle, type StartRun, stagesOf } from "./engine/startRun.ts";
import { runLog } from "./engine/timelineEntry.ts";
import { isActive, type RunKind, type RunRecord, runLists, runRecord, statusOf, writesArticle } from "./model/records.ts";
import type { RefuseSecondRun } from "./model/runInProgress.ts";
import { toRunView } from "./model/runView.ts";
import { startedByOf } from "./model/startedBy.ts";
import type { RunQueries } from "./runQueries.ts";
import { requireStyleOf } from "./workflows/styles.ts";
import type { Workflows } from "./workflows/workflows.ts";

export interface StartRunRequest {
  readonly workspaceId: string;
  readonly topicId?: string | undefined;
  readonly articleId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
  readonly budget?: RunBudget | undefined;
}

export interface Runs extends RunQueries {
  start(call: Call, workflowId: string, request: StartRunRequest): Promise<Run>;
  cancel(call: Call, runId: string, request: { readonly reason?: string | undefined }): Promise<Run>;
  retry(
    call: Call,
    runId: string,
    request: { readonly fromStep?: string | undefined; readonly budget?: RunBudget | undefined },
  ): Promise<Run>;
}

export interface RunsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "log" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly kind: RunKind;
  readonly topics: Pick<Topics, "find" | "send">;
  readonly folders: { exists(workspaceId: string, folderId: string): Promise<boolean> };
  readonly articles: Pick<ArticleWriter, "hold">;
  readonly startRun: StartRun;
  readonly workflows: Workflows;
  readonly queries: RunQueries;
  readonly refuseSecondRun: RefuseSecondRun;
}

/** Number of newest runs of the article that are searched for later writers of a file. */
const maxFollowers = 100;

export function createRuns(options: RunsOptions): Runs {
  const { storage, actors, kind, topics, folders, articles, startRun, workflows, queries, refuseSecondRun } = options;

  async function require(unit: UnitOfWork, runId: string): Promise<RunRecord> {
    const run = await unit.read(kind, runId);
    if (run === undefined) throw notFound();
    return run.value;
  }

  /** View of the run after the commit of the unit, including the timeline entries that the unit appends. */
  async function viewOf(unit: UnitOfWork, run: RunRecord): Promise<Run> {
    const log = runLog(run.id);
    return toRunView(run, (await storage.log.tail(unit.partition, log)) + unit.appended(log));
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

  async function findTarget(unit: UnitOfWork, request: StartRunRequest): Promise<{ topic?: TopicRecord; article?: Stored<ArticleRecord> }> {
    const { workspaceId, topicId, articleId, folderId } = request;
    const given = [topicId, articleId, folderId].filter((id) => id !== undefined);
    if (given.length > 1)
      throw refuseField(articleId === undefined || topicId === undefined ? "folderId" : "articleId", "must be the only target");
    if (topicId !== undefined) {
      const topic = await topics.find(workspaceId, topicId, unit);
      if (topic === undefined) throw refuseField("topicId", "must be a topic of the workspace");
      return { topic: topic.value };
    }
    if (folderId !== undefined && !(await folders.exists(workspaceId, folderId)))
      throw refuseField("folderId", "must be a folder of the workspace");
    if (articleId === undefined) return {};
    const article = await storage.records.get(articleRecord, articleId);
    if (article === undefined || article.value.workspaceId !== workspaceId || article.value.deletedAtMs !== undefined) {
      throw refuseField("articleId", "must be an article of the workspace that is not in the trash");
    }
    // A run of an article that belongs to a topic is also a run of that topic.
    const { topicId: ownTopicId } = article.value;
    const topic = ownTopicId === undefined ? undefined : await topics.find(workspaceId, ownTopicId, unit);
    return topic?.value.context.articleId === articleId ? { topic: topic.value } : { article };
  }

  return {
    ...queries,

    async start(call, workflowId, request) {
      checkProse(call.limits, request);
      const { workspaceId } = request;
      const workflow = workflows.find(workflowId);
      const partition = partitionOfId(workspaceId);
      const runId = call.ids.next("run", partition);
      await requireStyleOf(storage, workspaceId, request.styleProfileId);
      return refuseSecondRun(() =>
        actors.commitUnit({ operation: "run.start", partition, committer: call }, async (unit) => {
          const { run } = await startRun(unit, {
            runId,
            workspaceId,
            workflow,
            ...(await findTarget(unit, request)),
            by: startedByOf(call),
            ids: call.ids,
            nowMs: storage.now(),
            folderId: request.folderId,
            instructions: request.instructions,
            styleProfileId: request.styleProfileId,
            budget: request.budget,
            traceparent: call.traceparent,
          });
          return viewOf(unit, run);
        }),
      );
    },

    async cancel(call, runId, { reason }) {
      checkProse(call.limits, { reason });
      const by = principalOf(call).username;
      return actors.commitUnit({ operation: "run.cancel", partition: partitionOfId(runId), committer: call }, async (unit) =>
        viewOf(unit, await unit.send(kind, runId, { type: "run.cancel", by, reason })),
      );
    },

    async retry(call, runId, { fromStep, budget }) {
      const by = principalOf(call).username;
      const partition = partitionOfId(runId);
      return refuseSecondRun(() =>
        actors.commitUnit({ operation: "run.retry", partition, committer: call }, async (unit) => {
          const run = await require(unit, runId);
          const { steps, at, workspaceId, topicId, articleId } = run.context;
          const from = fromStep === undefined ? at : steps.findIndex(({ name }) => name === fromStep);
          if (!isActive(run) && statusOf(run) !== "completed" && (from < 0 || from > at)) {
            throw refuseField("fromStep", "must name a step that the run has started");
          }
          const waiting = steps.filter(({ approval }) => approval !== "none");
          const approvalIds = Object.fromEntries(waiting.map(({ name }) => [name, call.ids.next("apr", partition)]));
          const keepsTextOf = await findFollowed(run);
          const next = await unit.send(kind, runId, { type: "run.retry", by, fromStep, budget, approvalIds, keepsTextOf });
          if (writesArticle(run) && articleId !== undefined) {
            articles.hold(unit, await requireLiveArticle(storage, articleId, "the run"));
          }
          const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId, unit);
          const startedRun = { runId, stages: stagesOf({ steps }) };
          if (topic !== undefined) await topics.send(unit, topic.value.id, { type: "run.start", startedRun, by });
          return viewOf(unit, next);
        }),
      );
    },
  };
}
