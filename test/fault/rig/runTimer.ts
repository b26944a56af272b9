/** A timer of a run, as its timeline tells of it: the approval of the draft, which expires by itself when its time comes. */
import type { AgentEvent } from "../../../api/schema/timeline.ts";

export interface RunTimer {
  /** Times of the store, in Unix milliseconds; 0 where it never fired. */
  readonly dueMs: number;
  readonly firedMs: number;
  /** What is wrong, in words. */
  readonly lost: readonly string[];
  readonly dup: readonly string[];
  readonly bad: readonly string[];
}

/** It fires once and not early. */
export function checkTimer(runId: string, events: readonly AgentEvent[]): RunTimer {
  const waits = events.flatMap((event) => (event.event === "agent.paused_for_approval" ? [event.data] : []));
  const wait = waits.find(({ stepName }) => stepName === "draft");
  const ends = events.filter((event) => event.event === "agent.approval_resolved" && event.data.approvalId === wait?.approvalId);
  const [end] = ends;
  if (end?.event !== "agent.approval_resolved" || wait?.expiresAt === undefined) {
    return { dueMs: 0, firedMs: 0, lost: [`${runId}: its approval never expired`], dup: [], bad: [] };
  }
  const [dueMs, firedMs] = [Date.parse(wait.expiresAt), Date.parse(end.createdAt)];
  const bad: string[] = [];
  if (end.data.decision !== "expired") bad.push(`${runId}: its approval was resolved as ${end.data.decision}`);
  if (firedMs < dueMs) bad.push(`${runId}: its approval expired ${dueMs - firedMs} ms early`);
  return { dueMs, firedMs, lost: [], dup: ends.length > 1 ? [`${runId}: its approval expired ${ends.length} times`] : [], bad };
}
