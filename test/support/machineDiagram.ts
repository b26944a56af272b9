/** Draws the state diagram of a machine from the machine itself, as Mermaid text, as SVG and as a page of the docs. */
import { renderMermaidSVG } from "beautiful-mermaid";
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from "xstate";

export interface MachineDoc {
  /** Base name of the files. */
  readonly name: string;
  readonly title: string;
  /** Source file of the machine, relative to the root of the project. */
  readonly source: string;
  readonly machine: AnyStateMachine;
}

interface Move {
  readonly from: AnyStateNode;
  readonly event: string;
  readonly guard: string;
  readonly to: AnyStateNode;
  readonly changes: boolean;
  readonly actions: readonly string[];
}

interface NamedGuard {
  readonly type?: string;
  readonly guards?: readonly unknown[];
}

function toGuardName(guard: unknown): string {
  if (guard === undefined) return "";
  if (typeof guard === "string") return guard;
  const { type, guards } = guard as NamedGuard;
  // `and([…])` returns a function that holds its parts.
  if (guards !== undefined) return guards.map(toGuardName).join(", ");
  return type ?? "";
}

function toActionName(action: unknown): string {
  return typeof action === "string" ? action : ((action as { readonly type?: string }).type ?? "");
}

function toMoves(node: AnyStateNode): readonly Move[] {
  const definitions: [string, AnyTransitionDefinition][] = [
    ...(node.always ?? []).map((definition): [string, AnyTransitionDefinition] => ["", definition]),
    ...[...node.transitions].flatMap(([event, of]) => of.map((definition): [string, AnyTransitionDefinition] => [event, definition])),
  ];
  const own = definitions.flatMap(([event, definition]) =>
    (definition.target ?? [node]).map((to) => ({
      from: node,
      event,
      guard: toGuardName(definition.guard),
      to,
      changes: definition.target !== undefined,
      actions: definition.actions.map(toActionName).filter((name) => name !== ""),
    })),
  );
  return [...own, ...Object.values(node.states).flatMap(toMoves)];
}

const toId = (node: AnyStateNode) => node.path.join("_");
const toName = (node: AnyStateNode) => node.path.join(".") || "any state";

function toStates(node: AnyStateNode, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const child of Object.values(node.states)) {
    const children = Object.values(child.states);
    if (children.length === 0) {
      lines.push(`${indent}state "${child.key}" as ${toId(child)}`);
      continue;
    }
    lines.push(`${indent}state "${child.key}" as ${toId(child)} {`, ...toStates(child, `${indent}  `), `${indent}}`);
  }
  const initial = node.initial?.target[0];
  if (initial !== undefined) lines.push(`${indent}[*] --> ${toId(initial)}`);
  return lines;
}

function toMermaid(machine: AnyStateMachine): string {
  const moves = toMoves(machine.root);
  // Events that only change the context are left to the table: as loops they would hide the states.
  const arrows = new Map<string, string[]>();
  for (const { from, event, guard, to, changes } of moves) {
    if (!changes || from === machine.root) continue;
    const arrow = `  ${toId(from)} --> ${toId(to)}`;
    const label = `${event}${guard === "" ? "" : ` [${guard}]`}`.trim();
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), label]);
  }
  const ends = moves.length === 0 ? [] : finalStates(machine.root).map((node) => `  ${toId(node)} --> [*]`);
  const lines = [...arrows].map(([arrow, labels]) => {
    const label = labels.filter((text) => text !== "").join(", ");
    return label === "" ? arrow : `${arrow} : ${label}`;
  });
  return ["stateDiagram-v2", ...toStates(machine.root, "  "), ...lines, ...ends].join("\n");
}

function finalStates(node: AnyStateNode): readonly AnyStateNode[] {
  const children = Object.values(node.states);
  if (children.length > 0) return children.flatMap(finalStates);
  return node.type === "final" || node.tags.includes("removed") ? [node] : [];
}

/** Draws Mermaid text as an SVG that loads nothing: the web font that the renderer imports is removed. */
export function renderDiagram(mermaid: string): string {
  const svg = renderMermaidSVG(mermaid, { bg: "#ffffff", fg: "#1d2330", font: "system-ui" });
  return `${svg.replace(/@import url\([^)]*\);?\s*/g, "").trimEnd()}\n`;
}

export function toSvg(machine: AnyStateMachine): string {
  return renderDiagram(toMermaid(machine));
}

function toEntries(node: AnyStateNode): readonly string[] {
  const own = node.entry.map(toActionName).filter((name) => name !== "");
  const row = own.length === 0 ? [] : [`| ${toName(node)} | ${own.map(toCell).join(", ")} |`];
  return [...row, ...Object.values(node.states).flatMap(toEntries)];
}

const toCell = (text: string) => (text === "" ? "" : `\`${text}\``);

export function toPage({ name, title, source, machine }: MachineDoc): string {
  const rows = toMoves(machine.root).map(({ from, event, guard, to, changes, actions }) => {
    const cells = [toName(from), toCell(event), toCell(guard), changes ? toName(to) : "(stays)", actions.map(toCell).join(", ")];
    return `| ${cells.join(" | ")} |`;
  });
  const entries = toEntries(machine.root);
  return `# ${title}

Made from [\`${source}\`](../../${source}) by \`npm run docs:machines\`.

![State diagram](${name}.svg)

| From | Event | If | To | Also |
|---|---|---|---|---|
${rows.join("\n")}
${entries.length === 0 ? "" : `\n| State | On entering |\n|---|---|\n${entries.join("\n")}\n`}
\`\`\`mermaid
${toMermaid(machine)}
\`\`\`
`;
}
