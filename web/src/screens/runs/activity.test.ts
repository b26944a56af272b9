import { expect, test } from "vitest";
import type { AgentEvent } from "../../../../client/index.ts";
import { groupByRun, mergeEvents, mostEvents } from "./activity.ts";

function toEvent(cursor: number, runId = "run_1"): AgentEvent {
  return {
    id: `${runId}:${cursor}`,
    cursor: String(cursor),
    seq: cursor,
    createdAt: "2026-11-21T09:30:31.617Z",
    workspaceId: "ws_1",
    runId,
    workflowId: "outline",
    workflowVersion: "1",
    actor: "ana",
    event: "agent.run_cancelled",
    data: { by: "ana" },
  };
}

const cursorsOf = (events: readonly AgentEvent[]) => events.map(({ cursor }) => Number(cursor));

test("events of the start and of the stream make one list without repeats, newest first", () => {
  const events = mergeEvents([toEvent(9), toEvent(2)], [toEvent(10), toEvent(9)]);
  expect(cursorsOf(events)).toEqual([10, 9, 2]);
});

test("the oldest events leave the list when it is full", () => {
  const full = mergeEvents(
    [],
    Array.from({ length: mostEvents }, (_, index) => toEvent(index + 1)),
  );
  const events = mergeEvents(full, [toEvent(mostEvents + 1)]);
  expect(events).toHaveLength(mostEvents);
  expect(cursorsOf(events).at(0)).toBe(mostEvents + 1);
  expect(cursorsOf(events).at(-1)).toBe(2);
});

test("runs are in the order of their newest events", () => {
  const groups = groupByRun(mergeEvents([], [toEvent(1, "run_a"), toEvent(2, "run_b"), toEvent(3, "run_a")]));
  expect(groups.map(({ runId, events }) => [runId, cursorsOf(events)])).toEqual([
    ["run_a", [3, 1]],
    ["run_b", [2]],
  ]);
});
