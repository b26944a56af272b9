/** Which of a workflow's approvals apply to a run: those the content project asks for, and all of them where there is none. */
import type { ApprovalType, WorkflowStep } from "../../api/schema/workflow.ts";

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

/** The strictest of what applies to the steps. */
export function toApprovalMode(approvals: readonly ApprovalType[]): ApprovalType {
  if (approvals.includes("required")) return "required";
  return approvals.includes("optional") ? "optional" : "none";
}
