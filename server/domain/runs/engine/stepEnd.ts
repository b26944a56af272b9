/**
 * Decides all changes of the commit that ends a step.
 *
 * They are the artifacts, the article's commit with its deliveries and the topic's move, the SEO review in the brief,
 * and the run that follows a completed one. On a conflict the changes are decided again, but the step is not executed
 * again. This module executes no step.
 */
import type { RunStepError } from "../../../../api/schema/run.ts";
import type { TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import { currentApproval, currentStep, type RunContext, type RunEvent, systemActor } from "../../../../machines/agentRun.ts";
import type { TopicEvent } from "../../../../machines/topic.ts";
import type { ActorRecord, Alongside, MakeAlongside, Timeless } from "../../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import type { ArticleWriter } from "../../articles/port.ts";
import { present } from "../../call/present.ts";
import { joinParts, type Part } from "../../call/together.ts";
import type { TopicRecord, Topics } from "../../topics/port.ts";
import type { RunRecord } from "../model/records.ts";
import { mayApprove } from "../model/topicStage.ts";
import { builtInWorkflow } from "../workflows/builtInWorkflows.ts";
import type { StepOutputs } from "./artifacts.ts";
import type { RunStarter } from "./startRun.ts";

/** Result of a completed step, before its commit. */
export interface FinishedStep {
  readonly runId: string;
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

export interface DecidedEnd {
  readonly event: Timeless<RunEvent>;
  readonly alongside: MakeAlongside<RunContext>;
}

export interface StepEnd {
  /** Returns the event that ends the step and the changes that go with it, or `deleted` if the article was deleted. */
  decide(finished: FinishedStep, previous: Stored<RunRecord>): Promise<DecidedEnd | { readonly kind: "deleted" }>;
  /** Changes that start the chained run if this move completes the run; otherwise empty. */
  follow(next: ActorRecord<RunContext>, options?: FollowOptions): Promise<Follow>;
}

export interface FollowOptions {
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
}

export interface Follow {
  readonly parts: readonly Part[];
  readonly topicEvents: readonly Timeless<TopicEvent>[];
}

export interface StepEndOptions {
  readonly storage: Pick<Storage, "now">;
  readonly topics: Pick<Topics, "find" | "view" | "brief" | "projectBrief" | "briefWrite">;
  readonly articles: Pick<ArticleWriter, "prepareCommit">;
  readonly starter: RunStarter;
  readonly ids: IdSource;
}

const stages = ["research", "outline", "draft"] as const;

export function createStepEnd({ storage, topics, articles, starter, ids }: StepEndOptions): StepEnd {
  async function follow(next: ActorRecord<RunContext>, options: FollowOptions = {}): Promise<Follow> {
    const { context } = next;
    const { chains, chainedRunId, workspaceId, topicId } = context;
    if (next.state !== "completed" || chains === undefined || chainedRunId === undefined) return { parts: [], topicEvents: [] };
    const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId);
    const { parts, topicEvents } = await starter.prepare({
      runId: chainedRunId,
      workspaceId,
      workflow: builtInWorkflow(chains as "draft"),
      topic,
      by: { username: context.startedBy, accountId: context.startedByAccountId, kind: "agent" },
      ids,
      nowMs: storage.now(),
      pipeline: context.pipeline,
      instructions: options.instructions ?? context.instructions,
      styleProfileId: options.styleProfileId ?? context.styleProfileId,
      parentRunId: next.id,
      traceparent: context.traceparent,
    });
    return { parts, topicEvents };
  }

  /** Stores the review in the topic's brief. If the topic has no brief, a brief is projected from the topic first. */
  async function keepReview(topic: Stored<TopicRecord>, run: RunRecord, latestReview: TopicSeoReviewSnapshot) {
    const by = { username: run.context.startedBy, runId: run.id, nowMs: storage.now() };
    const stored = await topics.brief(topic.value.id);
    const brief = { ...(stored?.value ?? topics.projectBrief(topics.view(topic.value), by)), latestReview };
    const changes = { seoBriefRevision: brief.revision, seoReviewSeoBriefRevision: latestReview.seoBriefRevision };
    const event: Timeless<TopicEvent> = { type: "topic.update", changes, editorial: false, by: by.username };
    return { part: { records: [topics.briefWrite(brief, stored ?? null)] } satisfies Alongside, event };
  }

  /**
   * Events of the topic that follow from the end of the step. They include an approval that was given before the step
   * ended.
   */
  function toStageEvents(runId: string, { context }: RunRecord, before: TopicRecord, topic: TopicRecord): readonly Timeless<TopicEvent>[] {
    const step = currentStep(context);
    const stage = stages.find((name) => name === step.type);
    if (stage === undefined) return [];
    const isTold = stage !== "research" && topic.context[stage] !== before.context[stage];
    const completed: readonly Timeless<TopicEvent>[] = isTold
      ? []
      : [{ type: "stage.completed", runId, stage, stepName: step.name, by: context.startedBy }];
    const approval = currentApproval(context);
    if (stage === "research" || approval?.state !== "approved" || !mayApprove(topic, stage)) return completed;
    return [...completed, { type: `${stage}.approve`, by: approval.resolvedBy ?? systemActor, ...present({ note: approval.note }) }];
  }

  return {
    follow,

    async decide({ runId, round, outputs, result, written, briefRevision }, previous) {
      const { context } = previous.value;
      const { workspaceId, topicId, startedBy } = context;
      const step = currentStep(context);
      const partition = partitionOfId(runId);
      let commit: { readonly commitId: string; readonly revision: number; readonly change: Alongside } | undefined;
      let revision = written?.revision;
      if (written?.commits === true) {
        const prepared = await articles.prepareCommit({
          articleId: written.articleId,
          commitId: ids.next("cmt", partition),
          kind: "agent",
          message: `${step.name} of ${context.workflowId}`,
          committer: startedBy,
          ids,
          notBefore: written.revision,
          traceparent: context.traceparent,
          run: { runId, stepName: step.name, ...present({ file: step.persistToArticle?.file, seoBriefRevision: briefRevision }) },
        });
        if (prepared.kind === "deleted") return { kind: "deleted" };
        if (prepared.kind === "behind") throw new Error("the text of the step has not reached this node's document");
        if (prepared.kind === "ready") commit = prepared;
        revision = prepared.revision;
      }
      const event: Timeless<RunEvent> = {
        type: "step.completed",
        round,
        artifacts: outputs.made,
        usage: result.usage,
        ...present({
          output: outputs.made[0]?.artifactKey,
          summary: result.summary,
          unavailable: result.unavailable,
          revision,
          commitId: commit?.commitId,
        }),
        nextApprovalId: ids.next("apr", partition),
        ...(context.chains === undefined ? {} : { chainedRunId: ids.next("run", partition) }),
      };

      const alongside: MakeAlongside<RunContext> = async (next) => {
        const parts: Part[] = [{ records: outputs.records }];
        if (commit !== undefined) parts.push(commit.change);
        const topic = topicId === undefined ? undefined : await topics.find(workspaceId, topicId);
        if (topic === undefined || topic.value.state === "archived") return joinParts(parts);
        const events = [...toStageEvents(runId, previous.value, topic.value, starter.topicLeftBy(parts, topic.value))];
        if (result.review !== undefined) {
          const kept = await keepReview(topic, previous.value, result.review);
          parts.push(kept.part);
          events.push(kept.event);
        }
        const following = await follow(next);
        return joinParts(starter.withTopic([...parts, ...following.parts], topic, [...events, ...following.topicEvents]));
      };
      return { event, alongside };
    },
  };
}
