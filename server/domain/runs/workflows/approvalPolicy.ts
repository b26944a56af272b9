/**
 * Decides which approvals of a workflow apply to a run.
 *
 * Without a content project, all of them apply. A content project may switch off the approvals of outline and draft.
 */
import type { ApprovalType, WorkflowStep } from "../../../../api/schema/workflow.ts";

export interface ApprovalDemands {
  readonly requireOutlineApproval: boolean;
  readonly requireDraftApproval: boolean;
}

export function toAppliedApproval({ type, approval }: WorkflowStep, project: ApprovalDemands | undefined): ApprovalType {
  if (project === undefined) return approval;
  if (type === "outline" && !project.requireOutlineApproval) return "none";
  if (type === "draft" && !project.requireDraftApproval) return "none";
  return approval;
}

/** The strictest approval among those of the steps. */
export function toApprovalMode(approvals: readonly ApprovalType[]): ApprovalType {
  if (approvals.includes("required")) return "required";
  return approvals.includes("optional") ? "optional" : "none";
}
