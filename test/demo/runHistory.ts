/**
 * Checks the timeline of runs under any number of kills: each `seq` and each cursor occurs once and in order, every
 * step finishes once, no step starts after it has finished, and the model receives no request for a finished step.
 */
import assert from "node:assert/strict";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import type { AskedStep } from "./standIn.ts";

export interface RunHistory {
  /** Events in order, without the repeats of interrupted steps. */
  readonly told: readonly string[];
  /** Returns how often a step was started. */
  attempts(stepName: string): number;
}

type Named<Name extends AgentEvent["event"]> = Extract<AgentEvent, { readonly event: Name }>;

function checkSteps(ofRun: readonly AgentEvent[], asked: readonly AskedStep[]): void {
  const completed = ofRun.filter((event): event is Named<"agent.step_completed"> => event.event === "agent.step_completed");
  const started = ofRun.filter((event): event is Named<"agent.step_started"> => event.event === "agent.step_started");
  const names = completed.map(({ data }) => data.stepName);
  assert.deepEqual(names, [...new Set(names)], "a step finished twice");
  for (const end of completed) {
    const { stepName } = end.data;
    const begun = started.filter(({ data }) => data.stepName === stepName);
    assert.equal(end.data.status, "completed", JSON.stringify(end.data));
    assert.deepEqual(
      begun.map(({ data }) => data.attempt),
      begun.map((_, at) => at + 1),
    );
    assert.ok(
      begun.every(({ seq }) => seq < end.seq),
      `${stepName} began again after it had finished`,
    );
    const questions = asked.filter((question) => question.runId === end.runId && question.stepName === stepName);
    assert.ok(questions.length <= begun.length, `${stepName} was asked ${questions.length} times in ${begun.length} attempts`);
    assert.ok(
      questions.every(({ askedAtMs }) => askedAtMs <= Date.parse(end.createdAt)),
      `${stepName} was asked for after it had finished`,
    );
  }
}

/** `asked`: requests that the replacement of the model received. */
export function checkHistory(events: readonly AgentEvent[], runIds: readonly string[], asked: readonly AskedStep[]): RunHistory {
  assert.deepEqual(
    events.map(({ cursor }) => cursor),
    events.map((_, at) => String(at + 1)),
    "the workspace's timeline has a gap or tells an event twice",
  );
  for (const runId of runIds) {
    const ofRun = events.filter((event) => event.runId === runId);
    assert.deepEqual(
      ofRun.map(({ seq }) => seq),
      ofRun.map((_, at) => at + 1),
      `the timeline of ${runId} has a gap or tells an event twice`,
    );
    checkSteps(ofRun, asked);
  }
  return {
    told: events
      .filter((event) => event.event !== "agent.step_started" || event.data.attempt === 1)
      .map(({ event, data }) => ("stepName" in data ? `${event} ${data.stepName}` : event)),
    attempts: (stepName) =>
      events.filter(({ event, data }) => event === "agent.step_started" && "stepName" in data && data.stepName === stepName).length,
  };
}
