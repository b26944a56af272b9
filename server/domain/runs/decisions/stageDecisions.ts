/**
 * Prepares decisions about a topic's outline or draft: approve, or request changes.
 *
 * If the topic's active run waits for this approval, the same commit also resolves it. Otherwise the decision may start
 * a new run. An approved outline starts a draft if it came from a staged run, or if its content project requires no
 * approval of drafts. A request for changes starts a run of the same stage. This module commits nothing.
 */
import { AppError } from "../../../../api/schema/error.ts";
import type { RunStage, TopicEvent } from "../../../../machines/topic.ts";
import type { Timeless } from "../../../platform/actors/port.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import type { Call, Principal } from "../../call/call.ts";
import { present } from "../../call/present.ts";
import { principalOf, requireScopes } from "../../call/principal.ts";
import type { Part } from "../../call/together.ts";
import type { TopicRecord, Topics } from "../../topics/port.ts";
import type { RunStarter, StartRunParams } from "../engine/startRun.ts";
import { isActive, type RunRecord, runLists, runRecord } from "../model/records.ts";
import { type DecidedStage, hasStage, mayApprove } from "../model/topicStage.ts";
import { builtInWorkflow } from "../workflows/builtInWorkflows.ts";
import { type Decisions, waitsFor } from "./decisions.ts";

export interface StageDecisionParams {
  readonly call: Call;
  readonly topic: Stored<TopicRecord>;
  readonly stage: DecidedStage;
  /** Note of an approval, feedback of a request for changes. */
  readonly text?: string | undefined;
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
}

export interface StageDecision {
  readonly parts: readonly Part[];
  /** The run that starts with this decision (`started`), or the waiting run that continues (`continued`). */
  readonly started?: { readonly runId: string; readonly workflowId: string };
  readonly continued?: { readonly runId: string };
  readonly articleId?: string;
}

export interface StageDecisions {
  approve(wish: StageDecisionParams): Promise<StageDecision>;
  requestChanges(wish: StageDecisionParams): Promise<StageDecision>;
  activeRun(topic: TopicRecord): Promise<Stored<RunRecord> | undefined>;
}

export interface StageDecisionsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "now">;
  readonly topics: Pick<Topics, "move" | "contentProject">;
  readonly decisions: Decisions;
  readonly starter: RunStarter;
}

export function byOf(principal: Principal): StartRunParams["by"] {
  return { username: principal.username, accountId: principal.accountId, kind: principal.kind === "key" ? "key" : "user" };
}

export function createStageDecisions({ storage, topics, decisions, starter }: StageDecisionsOptions): StageDecisions {
  async function activeRun({ id }: TopicRecord): Promise<Stored<RunRecord> | undefined> {
    const [row] = await storage.index.scan({ partition: partitionOfId(id), prefix: runLists.activeOfTopic(id), limit: 1 });
    const run = row === undefined ? undefined : await storage.records.get(runRecord, row.target);
    return run !== undefined && isActive(run.value) ? run : undefined;
  }

  async function latestRun(topic: TopicRecord, stage: RunStage): Promise<RunRecord | undefined> {
    const runId = topic.context.runs[stage];
    return runId === undefined ? undefined : (await storage.records.get(runRecord, runId))?.value;
  }

  function toStart({ call, topic, instructions, styleProfileId }: StageDecisionParams): Omit<StartRunParams, "workflow"> {
    return {
      runId: call.ids.next("run", partitionOfId(topic.value.id)),
      workspaceId: topic.value.context.workspaceId,
      topic,
      by: byOf(principalOf(call)),
      ids: call.ids,
      nowMs: storage.now(),
      instructions,
      styleProfileId,
      traceparent: call.traceparent,
    };
  }

  /** The draft run to start after an approved outline. Undefined if no draft run must be started here. */
  async function toDraftRun(wish: StageDecisionParams, ended: RunRecord | undefined): Promise<StartRunParams | undefined> {
    const topic = wish.topic.value;
    const last = ended ?? (await latestRun(topic, "outline"));
    const isStaged = last?.context.pipeline === "staged" && last.context.chainedRunId === undefined;
    const wantsNoApproval = (await topics.contentProject(topic))?.requireDraftApproval === false;
    if (!isStaged && !wantsNoApproval) return undefined;
    const chain = isStaged ? { pipeline: "staged" as const, parentRunId: last.id } : present({ parentRunId: last?.id });
    return { ...toStart(wish), ...chain, workflow: builtInWorkflow("draft") };
  }

  async function start(wish: StageDecisionParams, parts: readonly Part[], events: readonly Timeless<TopicEvent>[], start: StartRunParams) {
    requireScopes(wish.call, ["workspaces:write", "articles:write"]);
    const { runId, workflow } = start;
    const prepared = await starter.prepare(start);
    return {
      parts: starter.withTopic([...parts, ...prepared.parts], wish.topic, [...events, ...prepared.topicEvents]),
      started: { runId, workflowId: workflow.id },
      ...present({ articleId: prepared.articleId }),
    };
  }

  /**
   * Throws unless the stage can be approved: the machine's error, or `approval_already_resolved` if it is already
   * approved.
   */
  function requireDecidable(topic: Stored<TopicRecord>, stage: DecidedStage, by: string): void {
    if (!hasStage(topic.value, stage)) {
      topics.move(topic, { type: `${stage}.approve`, by });
      throw new Error(`${topic.value.id} accepts an approval of its ${stage}, but it has no ${stage}`);
    }
    if (mayApprove(topic.value, stage)) return;
    const { revision = 0, approval } = topic.value.context[stage] ?? {};
    const detail = `The ${stage} of revision ${revision} was already approved by ${approval?.approvedBy}.`;
    throw new AppError("approval_already_resolved", detail, toFacts(topic, stage, by));
  }

  function toFacts(topic: Stored<TopicRecord>, stage: DecidedStage, by: string): AppError["facts"] {
    try {
      topics.move(topic, { type: `${stage}.approve`, by });
    } catch (reason) {
      if (reason instanceof AppError) return reason.facts;
      throw reason;
    }
    return {};
  }

  return {
    activeRun,

    async approve(wish) {
      const { call, topic, stage, text: note, instructions, styleProfileId } = wish;
      const { username: by } = principalOf(call);
      const active = await activeRun(topic.value);
      const waiting = active === undefined ? undefined : waitsFor(active.value, stage);
      const articleId = topic.value.context.articleId;
      if (active === undefined || waiting === undefined) {
        requireDecidable(topic, stage, by);
        const events: Timeless<TopicEvent>[] = [{ type: `${stage}.approve`, by, ...present({ note }) }];
        // The active run writes the draft already, so start no other run.
        const isDrafting = active?.value.context.steps.some(({ type }) => type === "draft") === true;
        const draft = stage === "outline" && !isDrafting ? await toDraftRun(wish, undefined) : undefined;
        if (draft !== undefined) return start(wish, [], events, draft);
        return { parts: starter.withTopic([], topic, events), ...present({ articleId }) };
      }
      const { approvalId } = waiting;
      const follow = { instructions, styleProfileId };
      const decided = await decisions.decide({
        run: active,
        approvalId,
        decision: "approve",
        note,
        by,
        ids: call.ids,
        topic: topic.value,
        follow,
      });
      if (decided.chainedRunId !== undefined) {
        requireScopes(call, ["workspaces:write", "articles:write"]);
        const parts = starter.withTopic(decided.parts, topic, decided.topicEvents);
        return { parts, started: { runId: decided.chainedRunId, workflowId: "draft" }, ...present({ articleId }) };
      }
      const isOver = !isActive(decided.run);
      const draft = stage === "outline" && isOver ? await toDraftRun(wish, decided.run) : undefined;
      if (draft !== undefined) return start(wish, decided.parts, decided.topicEvents, draft);
      const continued = isOver ? {} : { continued: { runId: active.value.id } };
      return { parts: starter.withTopic(decided.parts, topic, decided.topicEvents), ...continued, ...present({ articleId }) };
    },

    async requestChanges(wish) {
      const { call, topic, stage, text: feedback } = wish;
      const { username: by } = principalOf(call);
      const active = await activeRun(topic.value);
      const waiting = active === undefined ? undefined : waitsFor(active.value, stage);
      if (active !== undefined && waiting !== undefined) {
        const { approvalId } = waiting;
        const decided = await decisions.decide({
          run: active,
          approvalId,
          decision: "request_changes",
          note: feedback,
          by,
          ids: call.ids,
          topic: topic.value,
        });
        const parts = starter.withTopic(decided.parts, topic, decided.topicEvents);
        return { parts, continued: { runId: active.value.id }, ...present({ articleId: topic.value.context.articleId }) };
      }
      const events: Timeless<TopicEvent>[] = [{ type: `${stage}.requestChanges`, by, ...present({ feedback }) }];
      // Check that the machine accepts the events before any change is prepared.
      for (const event of events) topics.move(topic, event);
      const last = stage === "outline" ? await latestRun(topic.value, "outline") : undefined;
      // A pipeline that began as a staged run stays staged, so the new run also chains to a draft.
      const isStaged = last?.context.pipeline === "staged" && last.context.chainedRunId === undefined;
      return start(wish, [], events, {
        ...toStart(wish),
        workflow: builtInWorkflow(stage),
        ...(isStaged ? { pipeline: "staged", chains: "draft" } : {}),
        ...(stage === "draft" ? { action: "update", parentRunId: topic.value.context.runs.outline } : {}),
        ...(feedback === undefined ? {} : { feedback: { stepType: stage, text: feedback } }),
      });
    },
  };
}
