import { expect, test } from "vitest";
import { agentRunMachine } from "../../../../machines/agentRun.ts";
import { type Box, type Move, places, readMoves, toBox, toPath } from "./machineGraph.ts";

const boxes = Object.entries(places).map(([state, place]) => ({ state, ...toBox(place) }));

/** The corners of a path, which has horizontal and vertical lines only. */
function toCorners(path: string): readonly { readonly x: number; readonly y: number }[] {
  const corners: { x: number; y: number }[] = [];
  for (const [, command, numbers = ""] of path.matchAll(/([MHV])([-\d. ]+)/g)) {
    const [first = 0, second = 0] = numbers.trim().split(" ").map(Number);
    const { x, y } = corners.at(-1) ?? { x: 0, y: 0 };
    corners.push(command === "M" ? { x: first, y: second } : command === "H" ? { x: first, y } : { x, y: first });
  }
  return corners;
}

function crosses(path: string, { x, y, width, height }: Box): boolean {
  const corners = toCorners(path);
  return corners.slice(1).some((corner, index) => {
    const before = corners[index] ?? corner;
    const [left, right] = [Math.min(before.x, corner.x), Math.max(before.x, corner.x)];
    const [top, bottom] = [Math.min(before.y, corner.y), Math.max(before.y, corner.y)];
    return left < x + width && right > x && top < y + height && bottom > y;
  });
}

const nameOf = ({ from, to }: Move) => `${from} → ${to}`;

test("each state of the machine of runs has a place in its drawing, and boxes do not overlap", () => {
  expect(boxes.map(({ state }) => state).toSorted()).toEqual(Object.keys(agentRunMachine.root.states).toSorted());
  for (const one of boxes) {
    for (const other of boxes) {
      if (one === other) continue;
      const isApart =
        one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + one.height <= other.y || other.y + other.height <= one.y;
      expect(isApart, `${one.state} and ${other.state}`).toBe(true);
    }
  }
});

test("the drawing has the moves of the machine that change the state, with their events", () => {
  const moves = new Map(readMoves().map((move) => [nameOf(move), move.events]));
  expect(moves.get("queued → running")).toEqual(["run.started"]);
  expect(moves.get("running → deciding")).toEqual(["step.completed", "step.skipped"]);
  expect(moves.get("deciding → completed")).toEqual([""]);
  expect(moves.get("paused_for_approval → deciding")).toEqual(["approval.resolve", "approval.lapsed"]);
  expect(moves.get("cancelled → running")).toEqual(["run.retry"]);
  expect(moves.get("running → running")).toBeUndefined();
});

test("no move is drawn through the box of another state", () => {
  for (const move of readMoves()) {
    const path = toPath(move, true);
    const crossed = boxes.filter(({ state, ...box }) => state !== move.from && state !== move.to && crosses(path, box));
    expect(
      crossed.map(({ state }) => state),
      nameOf(move),
    ).toEqual([]);
  }
});
