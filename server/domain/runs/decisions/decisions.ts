/**
 * Makes a decision about an approval in a unit of work: the event of the run, a chained run, and the topic's event.
 *
 * The approval may be open before the run waits for it. The run machine decides which decision is possible. A second
 * decision fails with an error that names the first one. This module commits nothing.
 */
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type { ApprovalDecision } from "../../../../api/schema/run.ts";
import { approvalOf, currentApproval, currentStep, type RunApproval } from "../../../../machines/agentRun.ts";
import type { ActorRuntime, UnitOfWork } from "../../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../../platform/storage/ids.ts";
import { present } from "../../call/present.ts";
import type { Topics } from "../../topics/port.ts";
import type { FollowOptions, StepEnd } from "../engine/stepEnd.ts";
import { type RunKind, type RunRecord, statusOf } from "../model/records.ts";
import { hasStage, isDecidedStage, mayApprove } from "../model/topicStage.ts";

export interface DecisionParams {
  readonly runId: string;
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note?: string | undefined;
  /** Username. */
  readonly by: string;
  readonly ids: IdSource;
  /** Options of the chained run; they replace those of its parent. */
  readonly follow?: FollowOptions;
}

export interface Decided {
  /** The run after the decision. */
  readonly run: RunRecord;
  /** Present when a run follows. */
  readonly chainedRunId?: string;
}

export interface Decisions {
  /** Sends the decision to the run and its topic, and starts the run that follows a completed one. */
  decide(unit: UnitOfWork, params: DecisionParams): Promise<Decided>;
  /** Returns the approval. Throws `approval_expired` or `approval_already_resolved` unless it is pending. */
  requireOpen(run: RunRecord, approvalId: string): RunApproval;
}

export interface DecisionsOptions {
  readonly actors: Pick<ActorRuntime, "allowed">;
  readonly kind: RunKind;
  readonly topics: Pick<Topics, "find" | "send">;
  readonly stepEnd: Pick<StepEnd, "follow">;
}

/** The approval that the run waits for, if it belongs to a step of this type. */
export function waitsFor(run: RunRecord, stepType: string): RunApproval | undefined {
  if (statusOf(run) !== "paused_for_approval" || currentStep(run.context).type !== stepType) return undefined;
  return currentApproval(run.context);
}

export function findApproval({ context }: RunRecord, approvalId: string): RunApproval {
  const approval = approvalOf(context, approvalId);
  if (approval === undefined) throw notFound();
  return approval;
}

export function createDecisions({ actors, kind, topics, stepEnd }: DecisionsOptions): Decisions {
  function requireOpen(run: RunRecord, approvalId: string): RunApproval {
    const approval = findApproval(run, approvalId);
    if (approval.state === "pending") return approval;
    const { state: currentState, operations } = actors.allowed(kind, run);
    const facts = { currentState, allowed: [...operations] };
    if (approval.state === "expired") {
      throw new AppError("approval_expired", "The approval expired: no decision was made before the run continued or ended.", facts);
    }
    const decided = approval.state === "approved" ? "approved" : approval.state === "rejected" ? "rejected" : "answered with changes";
    throw new AppError("approval_already_resolved", `The output was already ${decided} by ${approval.resolvedBy}.`, facts);
  }

  /**
   * Sends the decision to the topic. An early decision is not sent, because the text does not exist yet; the end of the
   * step sends it.
   */
  async function sendToTopic(unit: UnitOfWork, run: RunRecord, { approvalId, decision, note, by }: DecisionParams): Promise<void> {
    const { workspaceId, topicId } = run.context;
    const { type } = currentStep(run.context);
    if (topicId === undefined || !isDecidedStage(type) || waitsFor(run, type)?.approvalId !== approvalId) return;
    const topic = (await topics.find(workspaceId, topicId, unit))?.value;
    if (topic === undefined) return;
    if (decision === "approve" && mayApprove(topic, type)) {
      await topics.send(unit, topic.id, { type: `${type}.approve`, by, ...present({ note }) });
    } else if (decision === "request_changes" && hasStage(topic, type)) {
      await topics.send(unit, topic.id, { type: `${type}.requestChanges`, by, ...present({ feedback: note }) });
    }
  }

  return {
    requireOpen,
    async decide(unit, params) {
      const { runId, approvalId, decision, note, by, ids } = params;
      const run = await unit.read(kind, runId);
      if (run === undefined) throw notFound();
      requireOpen(run.value, approvalId);
      const partition = partitionOfId(runId);
      const next = await unit.send(kind, runId, {
        type: "approval.resolve",
        approvalId,
        decision,
        by,
        note,
        nextApprovalId: ids.next("apr", partition),
        ...(run.value.context.chains === undefined ? {} : { chainedRunId: ids.next("run", partition) }),
      });
      await sendToTopic(unit, run.value, params);
      const follows = await stepEnd.follow(unit, next, params.follow);
      return { run: next, ...(follows ? present({ chainedRunId: next.context.chainedRunId }) : {}) };
    },
  };
}
