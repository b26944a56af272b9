/**
 * A decision about what a run waits for, or will wait for, as changes for one commit: the run's move, the run that
 * follows, and what the topic is told where the decision is about its outline or draft.
 *
 * The machine says which decision is possible; who comes second, at whatever moment, is told what was decided. It
 * commits nothing.
 */
import { AppError, notFound } from "../../api/schema/error.ts";
import type { ApprovalDecision } from "../../api/schema/run.ts";
import { approvalOf, currentApproval, currentStep, type RunApproval } from "../../machines/agentRun.ts";
import type { TopicEvent } from "../../machines/topic.ts";
import type { ActorRuntime, Timeless } from "../actors/port.ts";
import type { Part } from "../actors/together.ts";
import { type IdSource, partitionOfId } from "../ids.ts";
import type { Stored } from "../storage/port.ts";
import type { TopicRecord } from "../topics/port.ts";
import { present } from "./present.ts";
import { type RunRecord, statusOf } from "./records.ts";
import type { RunKind } from "./startRun.ts";
import type { FollowOptions, StepEnd } from "./stepEnd.ts";
import { hasStage, isDecidedStage, mayApprove } from "./topicStage.ts";

export interface DecisionWish {
  readonly run: Stored<RunRecord>;
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note?: string | undefined;
  /** Username. */
  readonly by: string;
  readonly ids: IdSource;
  /** The run's topic as the commit leaves it so far. */
  readonly topic?: TopicRecord | undefined;
  /** For the run that follows, instead of its parent's. */
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
  decide(wish: DecisionWish): Promise<Decided>;
  /** Refuses unless the approval is still open. */
  requireOpen(run: RunRecord, approvalId: string): RunApproval;
}

export interface DecisionsOptions {
  readonly actors: Pick<ActorRuntime, "move" | "allowed">;
  readonly kind: () => RunKind;
  readonly stepEnd: Pick<StepEnd, "follow">;
}

/** What the run waits for, if that is about a step of this type. */
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
      throw new AppError("approval_expired", "Nobody decided in time; the run went on without a decision.", facts);
    }
    const decided = approval.state === "approved" ? "approved" : approval.state === "rejected" ? "rejected" : "answered with changes";
    throw new AppError("approval_already_resolved", `The output was already ${decided} by ${approval.resolvedBy}.`, facts);
  }

  /** Only what the run waits for is there to be decided about; what was decided early is told at the step's end. */
  function toTopicEvents({ run, approvalId, decision, note, by, topic }: DecisionWish): readonly Timeless<TopicEvent>[] {
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
