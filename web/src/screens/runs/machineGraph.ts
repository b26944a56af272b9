/** The states of a run and the moves between them, read from the machine that the server uses, and their places in a drawing. */
import type { StateValueFrom } from "xstate";
import { agentRunMachine } from "../../../../machines/agentRun.ts";

export type RunState = StateValueFrom<typeof agentRunMachine>;

export interface Move {
  readonly from: RunState;
  readonly to: RunState;
  /** Names of the events; an empty name is a move that the machine makes by itself. */
  readonly events: readonly string[];
}

export interface Place {
  readonly column: number;
  readonly row: number;
  /** Columns that the box takes. */
  readonly columns: number;
}

/** Where each state is drawn. A state that the machine gains has to be given a place here. */
export const places: Readonly<Record<RunState, Place>> = {
  failed: { column: 1, row: 0, columns: 1 },
  paused_for_approval: { column: 2, row: 0, columns: 1 },
  queued: { column: 0, row: 1, columns: 1 },
  running: { column: 1, row: 1, columns: 1 },
  deciding: { column: 2, row: 1, columns: 1 },
  completed: { column: 3, row: 1, columns: 1 },
  cancelled: { column: 0, row: 2, columns: 3 },
};

function isState(key: string): key is RunState {
  return Object.hasOwn(places, key);
}

/** The moves that change the state. Several events between the same states are one move. */
export function readMoves(): readonly Move[] {
  const moves = new Map<string, { from: RunState; to: RunState; events: string[] }>();
  for (const node of Object.values(agentRunMachine.root.states)) {
    const automatic = (node.always ?? []).map((transition) => ["", transition] as const);
    const triggered = [...node.transitions].flatMap(([event, transitions]) =>
      transitions.map((transition) => [event, transition] as const),
    );
    for (const [event, { target }] of [...automatic, ...triggered]) {
      for (const { key } of target ?? []) {
        if (!isState(node.key) || !isState(key)) continue;
        const name = `${node.key} ${key}`;
        const move = moves.get(name) ?? { from: node.key, to: key, events: [] };
        if (!move.events.includes(event)) move.events.push(event);
        moves.set(name, move);
      }
    }
  }
  return [...moves.values()];
}

/** Sizes in pixels of the drawing. */
export const box = { width: 144, height: 34, gapX: 44, gapY: 46 };
/** Distance of two moves in opposite directions. */
const laneGap = 14;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export function toBox({ column, row, columns }: Place): Box {
  return {
    x: column * (box.width + box.gapX),
    y: row * (box.height + box.gapY),
    width: columns * box.width + (columns - 1) * box.gapX,
    height: box.height,
  };
}

const middle = ({ x, y, width, height }: Box) => ({ x: x + width / 2, y: y + height / 2 });

/**
 * The path of a move: straight between neighbours, otherwise down or up the gap on the right of its start. A move with an
 * opposite one keeps to its own lane.
 */
export function toPath({ from, to }: Move, hasOpposite: boolean): string {
  const [start, end] = [toBox(places[from]), toBox(places[to])];
  const lane = hasOpposite ? laneGap / 2 : 0;
  if (places[from].row === places[to].row) {
    const isRight = start.x < end.x;
    const y = middle(start).y + (isRight ? -lane : lane);
    return `M${isRight ? start.x + start.width : start.x} ${y}H${isRight ? end.x : end.x + end.width}`;
  }
  const isDown = start.y < end.y;
  if (Math.abs(places[from].row - places[to].row) === 1) {
    const narrow = start.width < end.width ? start : end;
    const x = middle(narrow).x + (isDown ? -lane : lane);
    return `M${x} ${isDown ? start.y + start.height : start.y}V${isDown ? end.y : end.y + end.height}`;
  }
  const channel = start.x + start.width + box.gapX / 2;
  return `M${start.x + start.width} ${middle(start).y}H${channel}V${middle(end).y}H${end.x + end.width}`;
}

export const drawing = {
  width: Math.max(...Object.values(places).map((place) => toBox(place).x + toBox(place).width)),
  height: Math.max(...Object.values(places).map((place) => toBox(place).y + toBox(place).height)),
};
