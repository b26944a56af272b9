/** Reads a timer of a run from its timeline: the approval of the draft, which expires by itself. */
import type { AgentEvent } from "../../../api/schema/timeline.ts";

export interface RunTimer {
  /** Store times in Unix milliseconds; 0 if the timer never fired. */
  readonly dueMs: number;
  readonly firedMs: number;
  /** Faults as text. */
  readonly lost: readonly string[];
  readonly dup: readonly string[];
  readonly bad: readonly string[];
}

/** Checks that the timer fires once and not early. */
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
