import { expect, test } from "vitest";
import type { AgentEvent } from "../../../../client/index.ts";
import { stepsOfApprovals, toSentence } from "./eventWords.ts";

const envelope = {
  id: "run_1:1",
  cursor: "1",
  seq: 1,
  createdAt: "2026-11-21T09:30:31.617Z",
  workspaceId: "ws_1",
  runId: "run_1",
  workflowId: "outline",
  workflowVersion: "1",
  actor: "ana",
} as const;
const usage = { inputTokens: 5200, outputTokens: 1900, usd: 0.04, toolCalls: 0 };

const paused: AgentEvent = {
  ...envelope,
  event: "agent.paused_for_approval",
  data: { approvalId: "apr_1", stepName: "outline", policy: "required", artifactKeys: ["outline-1"] },
};

test("a step that ended has its time, its tokens, its money and its summary in one sentence", () => {
  const event: AgentEvent = {
    ...envelope,
    event: "agent.step_completed",
    data: { stepName: "citation_enrichment", attempt: 1, status: "completed", durationMs: 4210, usage, summary: "5 sections" },
  };
  expect(toSentence(event, new Map())).toEqual({
    text: "Citation enrichment is done",
    detail: "4.2 s · 7,100 tokens · $0.04 · 5 sections",
    tone: "ok",
  });
});

test("a decision names its step, which only the pause before it has", () => {
  const event: AgentEvent = {
    ...envelope,
    event: "agent.approval_resolved",
    data: { approvalId: "apr_1", decision: "request_changes", resolvedBy: "bo", note: "Shorter.", waitedMs: 61_000 },
  };
  expect(toSentence(event, stepsOfApprovals([paused, event]))).toEqual({
    text: "bo requested changes to the outline",
    detail: "Shorter. · after 1 min 1 s",
    tone: "accent",
  });
});

test("an event of a newer server has no sentence", () => {
  expect(toSentence({ ...envelope, event: "agent.slept", data: {} } as unknown as AgentEvent, new Map())).toBeUndefined();
});
