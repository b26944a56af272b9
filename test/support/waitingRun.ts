/** Starts runs over REST that wait for a person's decision, for tests and benches. */
import { setTimeout as pause } from "node:timers/promises";
import type { Rest } from "./clients.ts";

const pollMs = 20;
/** Ends what hangs. How long a run takes says nothing about it. */
const hangMs = 60_000;

export interface WaitingRun {
  readonly workspaceId: string;
  readonly topicId: string;
  readonly runId: string;
  readonly approvalId: string;
}

export async function makeTopic(rest: Rest, workspaceId: string, title: string): Promise<string> {
  return (await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, { title, targetAudience: "builders" })).topicId;
}

/** Waits until the run asks for a decision. Returns the id of the approval. */
export async function untilApproval(rest: Rest, runId: string): Promise<string> {
  for (const giveUpAtMs = Date.now() + hangMs; ; await pause(pollMs)) {
    const { status, pendingApproval } = await rest.expect(200, "GET", `/runs/${runId}`);
    if (pendingApproval !== undefined) return pendingApproval.approvalId;
    if (Date.now() > giveUpAtMs) throw new Error(`the run ${runId} is ${status} and does not ask for an approval`);
  }
}

/** Starts a run of a new topic that waits for the decision on its outline. */
export async function startWaitingRun(rest: Rest, workspaceId: string, title = "Kites in high wind"): Promise<WaitingRun> {
  const topicId = await makeTopic(rest, workspaceId, title);
  const { runId } = await rest.expect(202, "POST", `/workspaces/${workspaceId}/topics/${topicId}/outline`, {});
  return { workspaceId, topicId, runId, approvalId: await untilApproval(rest, runId) };
}
