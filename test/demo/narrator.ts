/** Prints a story in colour on a terminal, with lines that change while people type, or prints nothing. */
import colors from "picocolors";
import type { AgentEvent, AgentEventName } from "../../api/schema/timeline.ts";

export interface Narrator {
  chapter(name: string): void;
  say(line: string): void;
  show(label: string, value: string): void;
  /** Prints one event of a timeline. */
  event(event: AgentEvent): void;
  /** Repaints changing lines until the returned function is called. */
  watch(look: () => readonly WatchedLine[]): () => void;
}

export interface WatchedLine {
  readonly who: string;
  readonly text: string;
}

export const silence: Narrator = { chapter: () => {}, say: () => {}, show: () => {}, event: () => {}, watch: () => () => {} };

const eventColors: Readonly<Record<AgentEventName, (text: string) => string>> = {
  "agent.run_started": colors.blue,
  "agent.step_started": colors.cyan,
  "agent.step_completed": colors.green,
  "agent.artifact_created": colors.dim,
  "agent.paused_for_approval": colors.magenta,
  "agent.approval_resolved": colors.magenta,
  "agent.run_completed": (text) => colors.bold(colors.green(text)),
  "agent.run_failed": colors.red,
  "agent.run_cancelled": colors.red,
};

function toWords(event: AgentEvent): string {
  switch (event.event) {
    case "agent.run_started":
      return `${event.workflowId}: ${event.data.steps.join(", ")}`;
    case "agent.step_started":
      return `${event.data.stepName}${event.data.attempt > 1 ? colors.bold(`, attempt ${event.data.attempt}`) : ""}`;
    case "agent.step_completed":
      return `${event.data.stepName} ${event.data.status}: ${event.data.summary ?? event.data.error?.message ?? ""}`;
    case "agent.artifact_created":
      return `${event.data.kind} of ${event.data.stepName}, ${event.data.bytes} bytes${event.data.commitId === undefined ? "" : `, ${event.data.commitId}`}`;
    case "agent.paused_for_approval":
      return `${event.data.stepName} waits for a person`;
    case "agent.approval_resolved":
      return `${event.data.decision} by ${event.data.resolvedBy}`;
    case "agent.run_completed":
      return event.data.chainedRunId === undefined ? "" : `goes on as ${event.data.chainedRunId}`;
    case "agent.run_failed":
      return `${event.data.code}: ${event.data.message}`;
    case "agent.run_cancelled":
      return `by ${event.data.by}`;
  }
}

export function createNarrator(): Narrator {
  const startedAt = Date.now();
  const elapsed = () => colors.dim(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`);
  let watched: (() => readonly WatchedLine[]) | undefined;
  let painted = 0;

  /** Repaints over the lines of the last call. */
  function paint(above: string): void {
    const lines = watched === undefined ? [] : watched().map(toLine);
    process.stdout.write(`${painted > 0 ? `\x1b[${painted}A\x1b[J` : ""}${above}${lines.join("")}`);
    painted = lines.length;
  }

  function toLine({ who, text }: WatchedLine): string {
    const width = Math.max(20, (process.stdout.columns ?? 80) - 18);
    const shown = text.replace(/\s+/g, " ").slice(-width);
    return `${elapsed()}  ${colors.magenta(who.padEnd(6))} ${shown}▏\n`;
  }

  const print = (line: string) => paint(`${line}\n`);
  return {
    chapter: (name) => print(`\n${colors.bold(colors.cyan(name))}`),
    say: (line) => print(`${elapsed()}  ${line}`),
    show: (label, value) => print(`${elapsed()}  ${colors.yellow(label)}  ${value}`),
    event: (event) => {
      const name = event.event.slice("agent.".length).padEnd(19);
      print(`${elapsed()}  ${colors.dim(`#${event.seq}`.padStart(3))} ${eventColors[event.event](name)} ${toWords(event)}`);
    },
    watch: (look) => {
      if (!process.stdout.isTTY) return () => {};
      watched = look;
      const timer = setInterval(() => paint(""), 60);
      return () => {
        clearInterval(timer);
        paint("");
        watched = undefined;
        painted = 0;
      };
    },
  };
}
