/**
 * Gathers the changes of the commit that ends a step.
 *
 * They are the artifacts, the article's commit with its deliveries, the events of the topic, the SEO review in the
 * brief, and the run that follows a completed one. On a conflict the changes are gathered again, but the step is not
 * executed again. This module executes no step.
 */
import type { RunStepError } from "../../../../api/schema/run.ts";
import type { TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import { currentApproval, currentStep, type RunContext, type RunEvent, systemActor } from "../../../../machines/agentRun.ts";
import type { TopicEvent } from "../../../../machines/topic.ts";
import type { DecidedOutcome, Timeless, UnitOfWork } from "../../../platform/actors/port.ts";
import type { IdSource } from "../../../platform/storage/ids.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { ArticleWriter } from "../../articles/port.ts";
import { present } from "../../call/present.ts";
import type { TopicRecord, Topics } from "../../topics/port.ts";
import type { RunRecord } from "../model/records.ts";
import { mayApprove } from "../model/topicStage.ts";
import { builtInWorkflow } from "../workflows/builtInWorkflows.ts";
import type { StepOutputs } from "./artifacts.ts";
import type { StartRun } from "./startRun.ts";

/** Result of a completed step, before its commit. */
export interface FinishedStep {
  readonly round: number;
  readonly outputs: StepOutputs;
  readonly result: Pick<Extract<Timeless<RunEvent>, { type: "step.completed" }>, "usage"> & {
    readonly summary?: string | undefined;
    readonly unavailable?: RunStepError | undefined;
    readonly review?: TopicSeoReviewSnapshot | undefined;
  };
  /** Present if the step wrote into the article. */
  readonly written?: { readonly articleId: string; readonly revision: number; readonly commits: boolean } | undefined;
  /** Revision of the brief that the step used. */
  readonly briefRevision?: number | undefined;
}

export interface StepEnd {
  /** Returns the event that ends the step and the changes that go with it, or `deleted` if the article was deleted. */
  decide(
    unit: UnitOfWork,
    finished: FinishedStep,
    previous: RunRecord,
  ): Promise<DecidedOutcome<RunContext, RunEvent> | { readonly kind: "deleted" }>;
  /** Starts the chained run if this transition completed the run. Returns whether a run was started. */
  follow(unit: UnitOfWork, next: RunRecord, options?: FollowOptions): Promise<boolean>;
}

export interface FollowOptions {
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
}

export interface StepEndOptions {
  readonly storage: Pick<Storage, "now">;
  readonly topics: Pick<Topics, "find" | "send" | "view" | "brief" | "projectBrief" | "writeBrief">;
  readonly articles: Pick<ArticleWriter, "commit">;
  readonly startRun: StartRun;
  readonly ids: IdSource;
}

const stages = ["research", "outline", "draft"] as const;

export function createStepEnd({ storage, topics, articles, startRun, ids }: StepEndOptions): StepEnd {
  async function follow(unit: UnitOfWork, next: RunRecord, options: FollowOptions = {}): Promise<boolean> {
    const { context } = next;
    const { chains, chainedRunId, workspaceId, topicId } = context;
    if (next.state !== "completed" || chains === undefined || chainedRunId === undefined) return false;
    const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId, unit);
    await startRun(unit, {
      runId: chainedRunId,
      workspaceId,
      workflow: builtInWorkflow(chains as "draft"),
      topic: topic?.value,
      by: { username: context.startedBy, accountId: context.startedByAccountId, kind: "agent" },
      ids,
      nowMs: storage.now(),
      pipeline: context.pipeline,
      instructions: options.instructions ?? context.instructions,
      styleProfileId: options.styleProfileId ?? context.styleProfileId,
      parentRunId: next.id,
      isChained: true,
      traceparent: context.traceparent,
    });
    return true;
  }

  /** Stores the review in the topic's brief. If the topic has no brief, a brief is projected from the topic first. */
  async function keepReview(unit: UnitOfWork, topic: TopicRecord, run: RunRecord, latestReview: TopicSeoReviewSnapshot): Promise<void> {
    const by = { username: run.context.startedBy, runId: run.id, nowMs: storage.now() };
    const stored = await topics.brief(topic.id);
    const brief = { ...(stored?.value ?? topics.projectBrief(topics.view(topic), by)), latestReview };
    topics.writeBrief(unit, brief, stored ?? null);
    const changes = { seoBriefRevision: brief.revision, seoReviewSeoBriefRevision: latestReview.seoBriefRevision };
    await topics.send(unit, topic.id, { type: "topic.update", changes, editorial: false, by: by.username });
  }

  /**
   * Events of the topic that follow from the end of the step. They include an approval that was given before the step
   * ended. `before` and `topic` are the topic before and after the article's commit.
   */
  function toStageEvents({ id: runId, context }: RunRecord, before: TopicRecord, topic: TopicRecord): readonly Timeless<TopicEvent>[] {
    const step = currentStep(context);
    const stage = stages.find((name) => name === step.type);
    if (stage === undefined) return [];
    const isCommitted = stage !== "research" && topic.context[stage] !== before.context[stage];
    const completed: readonly Timeless<TopicEvent>[] = isCommitted
      ? []
      : [{ type: "stage.completed", runId, stage, stepName: step.name, by: context.startedBy }];
    const approval = currentApproval(context);
    if (stage === "research" || approval?.state !== "approved" || !mayApprove(topic, stage)) return completed;
    return [...completed, { type: `${stage}.approve`, by: approval.resolvedBy ?? systemActor, ...present({ note: approval.note }) }];
  }

  async function commitText(unit: UnitOfWork, { id: runId, context }: RunRecord, { written, briefRevision }: FinishedStep) {
    if (written?.commits !== true) return { revision: written?.revision };
    const step = currentStep(context);
    const committed = await articles.commit(unit, {
      articleId: written.articleId,
      commitId: ids.next("cmt", unit.partition),
      kind: "agent",
      message: `${step.name} of ${context.workflowId}`,
      committer: context.startedBy,
      ids,
      notBefore: written.revision,
      traceparent: context.traceparent,
      run: { runId, stepName: step.name, ...present({ file: step.persistToArticle?.file, seoBriefRevision: briefRevision }) },
    });
    if (committed.kind === "behind") throw new Error("the text of the step has not reached this node's document");
    if (committed.kind === "deleted") return "deleted";
    return { revision: committed.revision, commitId: committed.kind === "ready" ? committed.commitId : undefined };
  }

  return {
    follow,

    async decide(unit, finished, previous) {
      const { round, outputs, result } = finished;
      const { workspaceId, topicId, chains } = previous.context;
      // Read before the article's commit, which may change the topic.
      const before = topicId === undefined ? undefined : await topics.find(workspaceId, topicId, unit);
      const committed = await commitText(unit, previous, finished);
      if (committed === "deleted") return { kind: "deleted" };
      const event: Timeless<RunEvent> = {
        type: "step.completed",
        round,
        artifacts: outputs.made,
        usage: result.usage,
        ...present({
          output: outputs.made[0]?.artifactKey,
          summary: result.summary,
          unavailable: result.unavailable,
          ...committed,
        }),
        nextApprovalId: ids.next("apr", unit.partition),
        ...(chains === undefined ? {} : { chainedRunId: ids.next("run", unit.partition) }),
      };
      return {
        event,
        async gather(_unit, next) {
          for (const write of outputs.records) unit.record(write);
          const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId, unit);
          if (before === undefined || topic === undefined || topic.value.state === "archived") return;
          for (const stageEvent of toStageEvents(previous, before.value, topic.value)) await topics.send(unit, topic.value.id, stageEvent);
          if (result.review !== undefined) await keepReview(unit, topic.value, previous, result.review);
          await follow(unit, next);
        },
      };
    },
  };
}
