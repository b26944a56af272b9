/** Runs of the rig, and the checks of each completed run with its timeline and with the model's ledger. */
import { setTimeout as pause } from "node:timers/promises";
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import type { ModelLedger } from "./modelLedger.ts";
import { valuesIn } from "./modelLedger.ts";
import type { Rig } from "./rig.ts";

/** The steps of `standard_article`. Each step asks the model. */
export const stepNames = ["research", "thesis", "outline", "draft", "review"] as const;

export interface StartedRun {
  readonly runId: string;
  readonly articleId: string;
}

/** Starts a run from research to review. The approvals of the named steps are given in advance; all by default. */
export async function startArticleRun(
  rig: Pick<Rig, "workspaceId" | "insist">,
  name: string,
  approved: readonly string[] = stepNames,
): Promise<StartedRun> {
  const { workspaceId } = rig;
  const { topicId } = await rig.insist(
    "POST",
    `/workspaces/${workspaceId}/topics`,
    { title: name, targetAudience: "builders" },
    `topic ${name}`,
  );
  const start = { workspaceId, topicId };
  const { runId, articleId } = await rig.insist("POST", "/workflows/standard_article/runs", start, `run ${name}`);
  const { approvals } = await rig.insist("GET", `/runs/${runId}/approvals`);
  for (const { approvalId, stepName } of approvals) {
    if (!approved.includes(stepName)) continue;
    await rig.insist("POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve" }, `approve ${approvalId}`);
  }
  return { runId, articleId };
}

/** Resolves when the run has completed. Throws at any other end. */
export async function untilCompleted(rig: Rig, { runId }: StartedRun): Promise<void> {
  for (;;) {
    const { status, failure } = await rig.insist("GET", `/runs/${runId}`);
    if (status === "completed") return;
    if (["failed", "cancelled"].includes(status)) throw new Error(`${runId} is ${status}: ${JSON.stringify(failure)}`);
    await pause(50);
  }
}

export async function readEvents(rig: Rig, runId: string): Promise<readonly AgentEvent[]> {
  return (await rig.insist("GET", `/runs/${runId}/events?limit=100`)).events;
}

export interface RunCheck {
  /** Faults as text. */
  readonly bad: readonly string[];
  /** Number of finished steps; and steps that finished or started again after they had finished. */
  readonly finished: number;
  readonly rerun: readonly string[];
  /** Values that a later step quoted differently, and finished steps whose value is missing. */
  readonly changed: readonly string[];
  /** How often a step was requested again. */
  readonly repeats: number;
}

/** `interruptions`: number of kills, stops and cuts. A step may be requested again at most this often. */
export async function checkRun(rig: Rig, { runId, articleId }: StartedRun, ledger: ModelLedger, interruptions: number): Promise<RunCheck> {
  const bad: string[] = [];
  const rerun: string[] = [];
  const changed: string[] = [];
  const events = await readEvents(rig, runId);
  if (events.some(({ seq }, at) => seq !== at + 1)) bad.push(`${runId}: its timeline has a gap`);
  const finished = events.flatMap((event) => (event.event === "agent.step_completed" ? [event.data.stepName] : []));
  if (new Set(finished).size !== finished.length) rerun.push(`${runId}: finished ${finished}`);
  if (finished.length < stepNames.length) bad.push(`${runId}: finished only ${finished}`);
  const ends = new Map<string, number>();
  for (const { event, seq, data } of events) {
    if (event === "agent.step_completed") ends.set(data.stepName, seq);
    if (event === "agent.step_started" && ends.has(data.stepName)) rerun.push(`${runId}: ${data.stepName} began after its end`);
  }

  const askings = ledger.of(runId);
  const order = askings.map(({ stepName }) => stepNames.indexOf(stepName as (typeof stepNames)[number]));
  if (order.some((step, at) => step < Math.max(...order.slice(0, at + 1)))) {
    rerun.push(`${runId}: asked for ${askings.map(({ stepName }) => stepName)}`);
  }
  const count = (name: string) => askings.filter(({ stepName }) => stepName === name).length;
  const repeats = stepNames.reduce((sum, name) => sum + Math.max(0, count(name) - 1), 0);
  for (const name of stepNames) {
    if (count(name) === 0) bad.push(`${runId}: nobody asked for ${name}`);
    if (count(name) > 1 + interruptions)
      bad.push(
        `${runId}: asked for ${name} by the nodes ${askings.flatMap((asking) => (asking.stepName === name ? [`${asking.node} at ${asking.askedAtMs % 100_000}`] : []))}`,
      );
  }

  const { artifacts } = await rig.insist("GET", `/runs/${runId}/artifacts`);
  const final = new Map<string, string>();
  for (const { artifactKey, stepName } of artifacts as { artifactKey: string; stepName: string }[]) {
    const text = await rig.insistText(`/runs/${runId}/artifacts/${artifactKey}`);
    const values = valuesIn(text).filter((value) => askings.some((asking) => asking.value === value && asking.stepName === stepName));
    if (values.length !== 1) changed.push(`${runId}: ${stepName} ended with ${values.length} values`);
    if (final.has(stepName)) rerun.push(`${runId}: ${stepName} left two texts`);
    final.set(stepName, values[0] ?? "");
    if (stepName !== "draft") continue;
    const { content } = await rig.insist("GET", `/articles/${articleId}/content`);
    if (content !== text) changed.push(`${runId}: the article is not the draft that the run ended with`);
  }
  for (const { stepName, quoted } of askings) {
    for (const value of quoted) {
      const from = askings.find((asking) => asking.value === value);
      // Only the interrupted step itself may quote the text that it left in its file.
      if (from !== undefined && from.stepName !== stepName && final.get(from.stepName) !== value) {
        changed.push(`${runId}: ${stepName} quotes another ${from.stepName} than the one that finished`);
      }
    }
  }
  return { bad, finished: finished.length, rerun, changed, repeats };
}
