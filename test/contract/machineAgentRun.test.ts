/** Tests the run over all its paths: steps, decisions in every order, ends and retries, each restored from its record. */
import { describe, expect, test } from "vitest";
import { agentEventData } from "../../api/schema/timeline.ts";
import {
  agentRunMachine,
  noUsage,
  type RunContext,
  type RunEvent,
  type RunInput,
  runCommands,
  type TimelineFact,
} from "../../machines/agentRun.ts";
import { decideCreation, decideEvent } from "../../server/platform/actors/decide.ts";
import type { ActorKind, ActorRecord } from "../../server/platform/actors/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { walkMachine } from "../support/walkMachine.ts";

const nowMs = 1_900_000_000_000;
const kind: ActorKind<RunContext, RunEvent> = {
  name: "run",
  machine: agentRunMachine,
  machineVersion: 1,
  record: defineRecord<ActorRecord<RunContext>>({ name: "run", version: 1, partitionOf: () => 0, keyOf: ({ id }) => id }),
  effects: ["begin", "execute"],
  facts: { timeline: () => {} },
  commands: runCommands,
};

const step = (name: "outline" | "draft", approval: "required" | "optional" | "none", approvalId?: string): RunInput["steps"][number] => ({
  name,
  type: name,
  tools: [],
  config: {},
  approval,
  ...(approvalId === undefined ? {} : { approvalId }),
});

const input: RunInput = {
  nowMs,
  workspaceId: "ws_1",
  workflowId: "outline",
  workflowVersion: "1",
  topicId: "top_1",
  articleId: "art_1",
  approvalMode: "required",
  optionalApprovalMs: 900_000,
  startedBy: "ada",
  startedByAccountId: "usr_1",
  chains: "draft",
  steps: [step("outline", "required", "apr_1"), step("draft", "optional", "apr_2")],
};

const artifact = { artifactKey: "outline-1", kind: "outline", contentType: "text/markdown", bytes: 3, sha256: "aa" } as const;
const later = nowMs + 5000;

function eventsIn({ round, approvals }: Pick<RunContext, "round" | "approvals">, more: object = {}): readonly RunEvent[] {
  const next = {
    nowMs: later,
    round,
    chainedRunId: "run_2",
    approvalId: `apr_${approvals.length + 1}`,
    nextApprovalId: `apr_${approvals.length + 1}`,
    ...more,
  };
  const approvalIds = { outline: `apr_${approvals.length + 1}`, draft: `apr_${approvals.length + 2}` };
  const completed = { type: "step.completed", artifacts: [artifact], output: "outline-1", usage: noUsage, ...next } as RunEvent;
  const decisions = approvals.flatMap(({ approvalId }) =>
    (["approve", "reject", "request_changes"] as const).map(
      (decision) => ({ ...next, type: "approval.resolve", approvalId, decision, by: "bob", note: decision }) as RunEvent,
    ),
  );
  return [
    { type: "run.started", nowMs: later },
    { type: "step.started", round, writer: 7, nowMs: later },
    { type: "step.started", round: round - 1, nowMs: later },
    completed,
    { ...completed, round: round - 1 } as RunEvent,
    { ...next, type: "step.skipped", code: "provider_unavailable", reason: "no executor" } as RunEvent,
    { type: "step.failed", round, code: "provider_unavailable", message: "gone", retryable: true, usage: noUsage, nowMs: later },
    { type: "execute.exhausted", reason: "a bug", attempts: 3, nowMs: later },
    ...decisions,
    ...approvals.map(({ approvalId }) => ({ ...next, type: "approval.lapsed", approvalId }) as RunEvent),
    { type: "run.cancel", by: "bob", nowMs: later },
    ...[undefined, "outline", "nothing"].map(
      (fromStep) => ({ type: "run.retry", by: "bob", fromStep, approvalIds, nowMs: later }) as const,
    ),
  ];
}

describe("a run", () => {
  test("[RU1] a run moves from queued to its end only as declared, on every path and from every state", () => {
    const walk = walkMachine<RunContext, RunEvent>({
      kind,
      inputs: [{ ...input }],
      // The walk is bounded, because a step may run again without end.
      events: (context) => (context.round > 2 || context.approvals.length > 3 ? [] : eventsIn(context)),
      facts: ({ at, steps, approvals, round, failure, chainedRunId }) => [
        at,
        round,
        steps.map(({ status }) => status),
        approvals.map(({ state }) => state),
        failure?.code,
        chainedRunId,
      ],
      check({ before, event, after }) {
        const ended = (record: ActorRecord<RunContext>) => ["completed", "failed", "cancelled"].includes(record.state as string);
        if (ended(after)) expect(after.context.finishedAtMs).toBe(later);
        if (ended(before)) expect(event.type).toBe("run.retry");
        // The artifacts of a finished step are kept until a caller requests that step again.
        if (event.type !== "run.retry" && event.type !== "approval.resolve" && !event.type.startsWith("step.")) {
          for (const [index, { artifactKeys }] of before.context.steps.entries()) {
            expect(after.context.steps[index]?.artifactKeys).toEqual(artifactKeys);
          }
        }
      },
    });
    expect(walk.untakenTransitions).toEqual([]);
    expect(walk.unreachedStates).toEqual(["deciding"]);
    expect(walk.refusals).toContain("completed run.cancel");
    expect(walk.refusals).toContain("running run.retry");
    expect(walk.refusals).toContain("completed approval.resolve");
    expect(walk.paths).toBeGreaterThan(100);
  }, 120_000);

  type Ask = (record: ActorRecord<RunContext>) => RunEvent;
  const find =
    (type: RunEvent["type"], more: object = {}): Ask =>
    (record) => {
      const found = eventsIn(record.context).find(
        (event) => event.type === type && Object.entries(more).every(([key, value]) => event[key as never] === value),
      );
      if (found === undefined) throw new Error(`there is no ${type}`);
      return found;
    };
  const decide = (approvalId: string, decision: string) => find("approval.resolve", { approvalId, decision });
  const begin = find("step.started");
  const complete = find("step.completed");

  function take(...asks: readonly Ask[]) {
    const events: TimelineFact[] = [];
    let record = decideCreation<RunContext>(kind, "run_1", input, { nowMs, leaseMs: 1 }).next;
    for (const ask of asks) {
      const event = ask(record);
      const next = decideEvent<RunContext>(kind, JSON.parse(JSON.stringify(record)), event, undefined, { nowMs: event.nowMs, leaseMs: 1 });
      if (next === undefined) throw new Error(`${event.type} was refused in ${JSON.stringify(record.state)}`);
      record = next.next;
      for (const { params } of next.facts) events.push(...(params as unknown as readonly TimelineFact[]));
    }
    return { record, events };
  }
  const started = find("run.started");
  const paused = [started, begin, complete] as const;

  test("[RU2] a run's events have the documented shapes, in the order in which they happened", () => {
    const { record, events } = take(
      ...paused,
      decide("apr_1", "approve"),
      begin,
      complete,
      find("approval.lapsed", { approvalId: "apr_2" }),
    );
    expect(record.state).toBe("completed");
    expect(events.map(({ event }) => event)).toEqual([
      "agent.run_started",
      "agent.step_started",
      "agent.artifact_created",
      "agent.step_completed",
      "agent.paused_for_approval",
      "agent.approval_resolved",
      "agent.step_started",
      "agent.artifact_created",
      "agent.step_completed",
      "agent.paused_for_approval",
      "agent.approval_resolved",
      "agent.run_completed",
    ]);
    for (const { event, data } of events) expect(agentEventData[event].parse(data)).toEqual(JSON.parse(JSON.stringify(data)));
    expect(events[4]).toMatchObject({ actor: "ada", data: { approvalId: "apr_1", policy: "required", artifactKeys: ["outline-1"] } });
    expect(events[5]).toMatchObject({ actor: "bob", data: { decision: "approve", resolvedBy: "bob", waitedMs: 0 } });
    expect(events[10]).toMatchObject({ actor: "system", data: { decision: "expired", resolvedBy: "system" } });
    expect(events[11]).toMatchObject({ data: { articleId: "art_1", chainedRunId: "run_2" } });
  });

  test("[RU3] an early decision takes effect once, when the run reaches that approval", () => {
    const early = take(started, begin, decide("apr_1", "approve"), complete);
    expect(early.record).toMatchObject({ state: "running", context: { at: 1 } });
    expect(() => take(started, decide("apr_1", "approve"), decide("apr_1", "reject"))).toThrow("refused");
    expect(take(started, decide("apr_1", "reject"), begin, complete).record).toMatchObject({
      state: "cancelled",
      context: { failure: { code: "approval_rejected", stepName: "outline" } },
    });
  });

  test("[RU4] after a request for changes, the step runs again with the note and asks again", () => {
    const { record } = take(...paused, decide("apr_1", "request_changes"));
    expect(record).toMatchObject({ state: "running", context: { at: 0 } });
    expect(record.context.steps[0]).toMatchObject({ status: "pending", feedback: ["request_changes"] });
    expect(record.context.approvals.map(({ approvalId, state }) => [approvalId, state])).toEqual([
      ["apr_1", "changes_requested"],
      ["apr_2", "pending"],
      ["apr_3", "pending"],
    ]);
    expect(take(...paused, decide("apr_1", "request_changes"), begin, complete, decide("apr_3", "approve")).record.context.at).toBe(1);
  });

  test("[RU5] a retry continues at the failed step, and finished steps keep their results", () => {
    const failed = [...paused, decide("apr_1", "approve"), begin, find("step.failed")] as const;
    const { record } = take(...failed);
    expect(record).toMatchObject({
      state: "failed",
      context: { failure: { code: "provider_unavailable", stepName: "draft", retryable: true } },
    });
    const retried = take(...failed, find("run.retry", { fromStep: undefined })).record;
    expect(retried).toMatchObject({ state: "running", context: { at: 1 } });
    expect(retried.context.steps[0]).toMatchObject({ status: "completed", output: "outline-1" });
    expect(retried.context.failure).toBeUndefined();
    expect(() => take(...failed, find("run.retry", { fromStep: "nothing" }))).toThrow("refused");
  });

  test("[RU6] a run cancelled while waiting waits again after a retry, and reruns no finished step", () => {
    const { record } = take(...paused, find("run.cancel"), find("run.retry", { fromStep: undefined }));
    expect(record).toMatchObject({ state: "paused_for_approval", context: { at: 0 } });
    expect(record.context.steps[0]).toMatchObject({ status: "paused", attempt: 1 });
  });

  test("[API53] a cancelled run whose approval was left pending waits for it again after a retry", () => {
    const { record } = take(...paused, find("run.cancel"));
    // Older versions stored cancelled runs like this, before open approvals expired with their run.
    const approvals = record.context.approvals.map(({ resolvedAtMs: _, ...approval }) => ({ ...approval, state: "pending" as const }));
    const old = { ...record, context: { ...record.context, approvals } };
    const event = find("run.retry", { fromStep: undefined })(old);
    const retried = decideEvent<RunContext>(kind, old, event, undefined, { nowMs: later, leaseMs: 1 })?.next;
    expect(retried).toMatchObject({ state: "paused_for_approval", context: { at: 0 } });
    expect(retried?.context.steps[0]).toMatchObject({ status: "paused", attempt: 1 });
    expect(retried?.context.approvals.map(({ approvalId, state }) => [approvalId, state])).toEqual([
      ["apr_1", "pending"],
      ["apr_2", "pending"],
    ]);
  });

  test("[RU7] an interrupted attempt stays recorded by its client id, and a finished one does not", () => {
    const twice = take(started, begin, begin).record;
    expect(twice.context.steps[0]).toMatchObject({ attempt: 2, writers: [7, 7] });
    expect(take(started, begin, begin, complete).record.context.steps[0]?.writers).toEqual([]);
  });
});
