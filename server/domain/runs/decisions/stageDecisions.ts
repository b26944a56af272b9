/**
 * Makes decisions about a topic's outline or draft in a unit of work: approve, or request changes.
 *
 * If the topic's active run waits for this approval, the same commit also resolves it. Otherwise the decision may start
 * a new run. An approved outline starts a draft if it came from a staged run, or if its content project requires no
 * approval of drafts. A request for changes starts a run of the same stage. This module commits nothing.
 */
import { AppError } from "../../../../api/schema/error.ts";
import type { RunStage } from "../../../../machines/topic.ts";
import type { UnitOfWork } from "../../../platform/actors/port.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Call } from "../../call/call.ts";
import { present } from "../../call/present.ts";
import { principalOf, requireScopes } from "../../call/principal.ts";
import type { TopicRecord, Topics } from "../../topics/port.ts";
import type { StartRun, StartRunParams } from "../engine/startRun.ts";
import type { FindActiveRun } from "../model/activeRun.ts";
import { isActive, type RunRecord, runRecord } from "../model/records.ts";
import { startedByOf } from "../model/startedBy.ts";
import { type DecidedStage, hasStage, mayApprove } from "../model/topicStage.ts";
import { builtInWorkflow } from "../workflows/builtInWorkflows.ts";
import { type Decisions, waitsFor } from "./decisions.ts";

export interface StageDecisionParams {
  readonly call: Call;
  /** The topic as the unit leaves it. */
  readonly topic: TopicRecord;
  readonly stage: DecidedStage;
  /** Note of an approval, feedback of a request for changes. */
  readonly text?: string | undefined;
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
}

export interface StageDecision {
  /** The run that starts with this decision (`started`), or the waiting run that continues (`continued`). */
  readonly started?: { readonly runId: string; readonly workflowId: string };
  readonly continued?: { readonly runId: string };
  readonly articleId?: string;
}

export interface StageDecisions {
  approve(unit: UnitOfWork, params: StageDecisionParams): Promise<StageDecision>;
  requestChanges(unit: UnitOfWork, params: StageDecisionParams): Promise<StageDecision>;
}

export interface StageDecisionsOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly topics: Pick<Topics, "send" | "refusal" | "contentProject">;
  readonly decisions: Decisions;
  readonly startRun: StartRun;
  readonly findActiveRun: FindActiveRun;
}

export function createStageDecisions({ storage, topics, decisions, startRun, findActiveRun }: StageDecisionsOptions): StageDecisions {
  async function latestRun(topic: TopicRecord, stage: RunStage): Promise<RunRecord | undefined> {
    const runId = topic.context.runs[stage];
    return runId === undefined ? undefined : (await storage.records.get(runRecord, runId))?.value;
  }

  function toStart({ call, topic, instructions, styleProfileId }: StageDecisionParams): Omit<StartRunParams, "workflow"> {
    return {
      runId: call.ids.next("run", partitionOfId(topic.id)),
      workspaceId: topic.context.workspaceId,
      topic,
      by: startedByOf(call),
      ids: call.ids,
      nowMs: storage.now(),
      instructions,
      styleProfileId,
      traceparent: call.traceparent,
    };
  }

  /** The draft run to start after an approved outline. Undefined if no draft run must be started here. */
  async function toDraftRun(params: StageDecisionParams, ended: RunRecord | undefined): Promise<StartRunParams | undefined> {
    const { topic } = params;
    const last = ended ?? (await latestRun(topic, "outline"));
    const isStaged = last?.context.pipeline === "staged" && last.context.chainedRunId === undefined;
    const wantsNoApproval = (await topics.contentProject(topic))?.requireDraftApproval === false;
    if (!isStaged && !wantsNoApproval) return undefined;
    const chain = isStaged ? { pipeline: "staged" as const, parentRunId: last.id } : present({ parentRunId: last?.id });
    return { ...toStart(params), ...chain, workflow: builtInWorkflow("draft") };
  }

  async function start(unit: UnitOfWork, call: Call, params: StartRunParams): Promise<StageDecision> {
    requireScopes(call, ["workspaces:write", "articles:write"]);
    const { articleId } = await startRun(unit, params);
    return { started: { runId: params.runId, workflowId: params.workflow.id }, ...present({ articleId }) };
  }

  /**
   * Throws unless the stage can be approved: the machine's error, or `approval_already_resolved` if it is already
   * approved.
   */
  function requireDecidable(topic: TopicRecord, stage: DecidedStage, by: string): void {
    if (mayApprove(topic, stage)) return;
    const refusal = topics.refusal(topic, { type: `${stage}.approve`, by });
    if (!hasStage(topic, stage)) throw refusal ?? new Error(`${topic.id} accepts an approval of its ${stage}, but it has no ${stage}`);
    const { revision = 0, approval } = topic.context[stage] ?? {};
    const detail = `The ${stage} of revision ${revision} was already approved by ${approval?.approvedBy}.`;
    throw new AppError("approval_already_resolved", detail, refusal?.facts ?? {});
  }

  return {
    async approve(unit, params) {
      const { call, topic, stage, text: note, instructions, styleProfileId } = params;
      const { username: by } = principalOf(call);
      const active = (await findActiveRun(topic.id, unit))?.value;
      const waiting = active === undefined ? undefined : waitsFor(active, stage);
      const { articleId } = topic.context;
      if (active === undefined || waiting === undefined) {
        requireDecidable(topic, stage, by);
        await topics.send(unit, topic.id, { type: `${stage}.approve`, by, ...present({ note }) });
        // The active run writes the draft already, so start no other run.
        const isDrafting = active?.context.steps.some(({ type }) => type === "draft") === true;
        const draft = stage === "outline" && !isDrafting ? await toDraftRun(params, undefined) : undefined;
        return draft === undefined ? present({ articleId }) : start(unit, call, draft);
      }
      const { approvalId } = waiting;
      const follow = { instructions, styleProfileId };
      const decided = await decisions.decide(unit, { runId: active.id, approvalId, decision: "approve", note, by, ids: call.ids, follow });
      if (decided.chainedRunId !== undefined) {
        requireScopes(call, ["workspaces:write", "articles:write"]);
        return { started: { runId: decided.chainedRunId, workflowId: "draft" }, ...present({ articleId }) };
      }
      if (isActive(decided.run)) return { continued: { runId: active.id }, ...present({ articleId }) };
      const draft = stage === "outline" ? await toDraftRun(params, decided.run) : undefined;
      return draft === undefined ? present({ articleId }) : start(unit, call, draft);
    },

    async requestChanges(unit, params) {
      const { call, topic, stage, text: feedback } = params;
      const { username: by } = principalOf(call);
      const active = (await findActiveRun(topic.id, unit))?.value;
      const waiting = active === undefined ? undefined : waitsFor(active, stage);
      if (active !== undefined && waiting !== undefined) {
        const { approvalId } = waiting;
        await decisions.decide(unit, { runId: active.id, approvalId, decision: "request_changes", note: feedback, by, ids: call.ids });
        return { continued: { runId: active.id }, ...present({ articleId: topic.context.articleId }) };
      }
      await topics.send(unit, topic.id, { type: `${stage}.requestChanges`, by, ...present({ feedback }) });
      const last = stage === "outline" ? await latestRun(topic, "outline") : undefined;
      // A pipeline that began as a staged run stays staged, so the new run also chains to a draft.
      const isStaged = last?.context.pipeline === "staged" && last.context.chainedRunId === undefined;
      return start(unit, call, {
        ...toStart(params),
        workflow: builtInWorkflow(stage),
        ...(isStaged ? { pipeline: "staged", chains: "draft" } : {}),
        ...(stage === "draft" ? { action: "update", parentRunId: topic.context.runs.outline } : {}),
        ...(feedback === undefined ? {} : { feedback: { stepType: stage, text: feedback } }),
      });
    },
  };
}
