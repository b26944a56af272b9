import { Fragment, useId, useMemo } from "react";
import type { RunStatus } from "../../../../api/schema/run.ts";
import type { Tone } from "../../ui/badge.tsx";
import { ScrollRegion } from "../../ui/scrollRegion.tsx";
import { drawing, type Move, places, type RunState, readMoves, toBox, toPath } from "./machineGraph.ts";
import { runStates } from "./runWords.ts";

const stateNames: Readonly<Record<RunState, string>> = {
  queued: runStates.queued.label,
  running: runStates.running.label,
  paused_for_approval: runStates.paused_for_approval.label,
  completed: runStates.completed.label,
  failed: runStates.failed.label,
  cancelled: runStates.cancelled.label,
  deciding: "Step ended",
};

/** What the events of the machine are for people. An event without a name here is not worth a line. */
const eventNames: Readonly<Record<string, string>> = {
  "run.started": "the first step starts",
  "run.cancel": "somebody cancels it",
  "run.retry": "somebody retries it",
  "step.completed": "the step is done",
  "step.skipped": "the step is skipped",
  "step.failed": "the step fails",
  "execute.exhausted": "the step fails again and again",
  "approval.resolve": "somebody decides",
  "approval.lapsed": "the time for a decision is over",
};

const currentLooks: Record<Tone, { readonly box: string; readonly text: string }> = {
  neutral: { box: "fill-hover stroke-line-strong", text: "fill-text" },
  accent: { box: "fill-accent-soft stroke-accent", text: "fill-accent" },
  ok: { box: "fill-ok-soft stroke-ok", text: "fill-ok" },
  warn: { box: "fill-warn-soft stroke-warn", text: "fill-warn" },
  danger: { box: "fill-danger-soft stroke-danger", text: "fill-danger" },
};

const margin = 6;

function toReasons({ events }: Move): string {
  return events.flatMap((event) => eventNames[event] ?? []).join(", or ");
}

/** The machine of a run, with the state in which the run is and the moves that may come next. */
export function RunMachine({ status }: { readonly status: RunStatus }) {
  const id = useId();
  const moves = useMemo(readMoves, []);
  const look = currentLooks[runStates[status].tone];
  const next = moves.filter(({ from }) => from === status);
  const { width, height } = drawing;
  const isOpposed = ({ from, to }: Move) => moves.some((other) => other.from === to && other.to === from);
  return (
    <figure>
      <ScrollRegion label="Drawing of the states">
        <svg
          role="img"
          aria-label={`State of the run: ${stateNames[status]}`}
          viewBox={`${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`}
          className="w-full max-w-2xl min-w-136"
          fontSize="12.5"
        >
          <defs>
            {["line", "next"].map((kind) => (
              <marker
                key={kind}
                id={`${id}-${kind}`}
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
                className={kind === "next" ? "fill-accent" : "fill-line-strong"}
              >
                <path d="M0 0.8 7.5 4 0 7.2Z" />
              </marker>
            ))}
          </defs>
          {moves
            .toSorted((one, other) => Number(one.from === status) - Number(other.from === status))
            .map((move) => {
              const isNext = move.from === status;
              const reasons = toReasons(move);
              return (
                <path
                  key={`${move.from} ${move.to}`}
                  d={toPath(move, isOpposed(move))}
                  fill="none"
                  strokeWidth={isNext ? 1.6 : 1}
                  markerEnd={`url(#${id}-${isNext ? "next" : "line"})`}
                  className={isNext ? "stroke-accent" : "stroke-line-strong/60"}
                >
                  {reasons !== "" && <title>{reasons}</title>}
                </path>
              );
            })}
          {(Object.keys(places) as RunState[]).map((state) => {
            const { x, y, ...size } = toBox(places[state]);
            const isCurrent = state === status;
            return (
              <Fragment key={state}>
                <rect
                  x={x}
                  y={y}
                  {...size}
                  rx="6"
                  strokeWidth={isCurrent ? 1.6 : 1}
                  className={isCurrent ? look.box : "fill-raised stroke-line-strong/60"}
                />
                <text
                  x={x + size.width / 2}
                  y={y + size.height / 2}
                  textAnchor="middle"
                  dominantBaseline="central"
                  className={isCurrent ? `${look.text} font-semibold` : "fill-muted"}
                >
                  {stateNames[state]}
                </text>
              </Fragment>
            );
          })}
        </svg>
      </ScrollRegion>
      <figcaption className="mt-3 text-xs text-muted">
        {next.length === 0 ? (
          "The run has ended. Nothing can happen to it any more."
        ) : (
          <ul className="flex flex-col gap-0.5">
            {next.map((move) => (
              <li key={move.to}>
                <span className="font-medium text-text">{stateNames[move.to]}</span> when {toReasons(move)}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
    </figure>
  );
}
