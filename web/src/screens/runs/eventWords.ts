/** Events of the timeline as sentences. */
import type { AgentEvent } from "../../../../client/index.ts";
import type { Tone } from "../../ui/badge.tsx";
import { toBytes, toCost, toDuration, toWords } from "./runWords.ts";

export interface Sentence {
  readonly text: string;
  /** What there is to know further, in a second line. */
  readonly detail?: string | undefined;
  readonly tone: Tone;
}

const decisions: Readonly<Record<string, string>> = {
  approve: "approved",
  reject: "rejected",
  request_changes: "requested changes to",
};

function join(...parts: readonly (string | undefined)[]): string | undefined {
  const given = parts.filter((part) => part !== undefined && part !== "");
  return given.length === 0 ? undefined : given.join(" · ");
}

type Of<Name extends AgentEvent["event"]> = Extract<AgentEvent, { event: Name }>["data"];

function ofStepEnd({ stepName, status, durationMs, usage, summary, error }: Of<"agent.step_completed">): Sentence {
  const name = toWords(stepName);
  const facts = join(toDuration(durationMs), toCost(usage), summary);
  if (status === "skipped") return { text: `${name} was skipped`, detail: error?.message, tone: "neutral" };
  if (status === "failed") return { text: `${name} failed`, detail: join(error?.message, facts), tone: "danger" };
  return { text: `${name} is done`, detail: join(facts, error?.message), tone: error === undefined ? "ok" : "warn" };
}

/** `step` is the step of the approval, which the event of its decision does not name. */
function ofDecision({ decision, resolvedBy, note, waitedMs }: Of<"agent.approval_resolved">, step: string | undefined): Sentence {
  const subject = step === undefined ? "the result" : `the ${toWords(step).toLocaleLowerCase()}`;
  if (decision === "expired") return { text: "The approval expired without a decision", tone: "neutral" };
  const waited = waitedMs < 1000 ? undefined : `after ${toDuration(waitedMs)}`;
  return {
    text: `${resolvedBy} ${decisions[decision] ?? decision} ${subject}`,
    detail: join(note, waited),
    tone: decision === "approve" ? "ok" : decision === "reject" ? "danger" : "accent",
  };
}

/** `approvals` maps the ids of approvals to the names of their steps. Undefined for an event of a newer server. */
export function toSentence(event: AgentEvent, approvals: ReadonlyMap<string, string>): Sentence | undefined {
  switch (event.event) {
    case "agent.run_started":
      return { text: `${event.actor} started the run`, detail: event.data.steps.map(toWords).join(" → "), tone: "accent" };
    case "agent.step_started": {
      const { stepName, attempt, index, of } = event.data;
      return {
        text: `${toWords(stepName)} started`,
        detail: join(`step ${index} of ${of}`, attempt > 1 ? `attempt ${attempt}` : undefined),
        tone: "accent",
      };
    }
    case "agent.step_completed":
      return ofStepEnd(event.data);
    case "agent.artifact_created": {
      const { artifactKey, bytes, revision } = event.data;
      return {
        text: `Stored ${artifactKey}`,
        detail: join(toBytes(bytes), revision === undefined ? undefined : `revision ${revision} of the article`),
        tone: "neutral",
      };
    }
    case "agent.paused_for_approval":
      return {
        text: `Waits for approval: ${toWords(event.data.stepName)}`,
        detail: event.data.expiresAt === undefined ? undefined : "Continues by itself if nobody decides in time",
        tone: "warn",
      };
    case "agent.approval_resolved":
      return ofDecision(event.data, approvals.get(event.data.approvalId));
    case "agent.run_completed":
      return { text: "The run is complete", detail: join(toDuration(event.data.durationMs), toCost(event.data.usage)), tone: "ok" };
    case "agent.run_failed":
      return { text: "The run failed", detail: event.data.message, tone: "danger" };
    case "agent.run_cancelled":
      return { text: `${event.data.by} cancelled the run`, detail: event.data.reason, tone: "neutral" };
  }
  return undefined;
}

/** The steps of the approvals that the events name. */
export function stepsOfApprovals(events: Iterable<AgentEvent>): ReadonlyMap<string, string> {
  const steps = new Map<string, string>();
  for (const event of events) if (event.event === "agent.paused_for_approval") steps.set(event.data.approvalId, event.data.stepName);
  return steps;
}
