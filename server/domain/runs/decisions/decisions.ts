/**
 * Prepares the changes of a decision about an approval: the run's move, a chained run, and the topic's events.
 *
 * The approval may be open before the run waits for it. The run machine decides which decision is possible. A second
 * decision fails with an error that names the first one. This module commits nothing.
 */
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type { ApprovalDecision } from "../../../../api/schema/run.ts";
import { approvalOf, currentApproval, currentStep, type RunApproval } from "../../../../machines/agentRun.ts";
import type { TopicEvent } from "../../../../machines/topic.ts";
import type { ActorRuntime, Timeless } from "../../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../../platform/storage/ids.ts";
import type { Stored } from "../../../platform/storage/port.ts";
import { present } from "../../call/present.ts";
import type { Part } from "../../call/together.ts";
import type { TopicRecord } from "../../topics/port.ts";
import type { FollowOptions, StepEnd } from "../engine/stepEnd.ts";
import { type RunKind, type RunRecord, statusOf } from "../model/records.ts";
import { hasStage, isDecidedStage, mayApprove } from "../model/topicStage.ts";

export interface DecisionParams {
  readonly run: Stored<RunRecord>;
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note?: string | undefined;
  /** Username. */
  readonly by: string;
  readonly ids: IdSource;
  /** State of the run's topic after the changes that are already part of the commit. */
  readonly topic?: TopicRecord | undefined;
  /** Options of the chained run; they replace those of its parent. */
  readonly follow?: FollowOptions;
}

export interface Decided {
  readonly run: RunRecord;
  readonly parts: readonly Part[];
  readonly topicEvents: readonly Timeless<TopicEvent>[];
  /** Present when a run follows. */
  readonly chainedRunId?: string;
}

export interface Decisions {
  decide(wish: DecisionParams): Promise<Decided>;
  /** Returns the approval. Throws `approval_expired` or `approval_already_resolved` unless it is pending. */
  requireOpen(run: RunRecord, approvalId: string): RunApproval;
}

export interface DecisionsOptions {
  readonly actors: Pick<ActorRuntime, "move" | "allowed">;
  readonly kind: () => RunKind;
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

export function createDecisions({ actors, kind, stepEnd }: DecisionsOptions): Decisions {
  function requireOpen(run: RunRecord, approvalId: string): RunApproval {
    const approval = findApproval(run, approvalId);
    if (approval.state === "pending") return approval;
    const { state: currentState, allowed } = actors.allowed(kind(), run);
    const facts = { currentState, allowed: [...allowed] };
    if (approval.state === "expired") {
      throw new AppError("approval_expired", "The approval expired: no decision was made before the run continued or ended.", facts);
    }
    const decided = approval.state === "approved" ? "approved" : approval.state === "rejected" ? "rejected" : "answered with changes";
    throw new AppError("approval_already_resolved", `The output was already ${decided} by ${approval.resolvedBy}.`, facts);
  }

  /**
   * Events of the topic for this decision. There are none for an early decision, because the text does not exist yet;
   * the end of the step sends them.
   */
  function toTopicEvents({ run, approvalId, decision, note, by, topic }: DecisionParams): readonly Timeless<TopicEvent>[] {
    const { type } = currentStep(run.value.context);
    if (topic === undefined || !isDecidedStage(type) || waitsFor(run.value, type)?.approvalId !== approvalId) return [];
    if (decision === "approve" && mayApprove(topic, type)) return [{ type: `${type}.approve`, by, ...present({ note }) }];
    if (decision === "request_changes" && hasStage(topic, type))
      return [{ type: `${type}.requestChanges`, by, ...present({ feedback: note }) }];
    return [];
  }

  return {
    requireOpen,
    async decide(wish) {
      const { run, approvalId, decision, note, by, ids } = wish;
      requireOpen(run.value, approvalId);
      const partition = partitionOfId(run.value.id);
      const change = actors.move(kind(), run, {
        type: "approval.resolve",
        approvalId,
        decision,
        by,
        note,
        nextApprovalId: ids.next("apr", partition),
        ...(run.value.context.chains === undefined ? {} : { chainedRunId: ids.next("run", partition) }),
      });
      const following = await stepEnd.follow(change.next, wish.follow);
      return {
        run: change.next,
        parts: [change, ...following.parts],
        topicEvents: [...toTopicEvents(wish), ...following.topicEvents],
        ...(following.parts.length === 0 ? {} : present({ chainedRunId: change.next.context.chainedRunId })),
      };
    },
  };
}
