/** Writes the results of `npm run bench` as a page for people. `bench/results.json` contains the same rows for programs. */
import { type Row, standingOf } from "./live/row.ts";

/** A row of the results file. It names its own run, because rows of several runs are kept together. */
export interface MeasuredRow extends Row {
  readonly run: { readonly machine: string; readonly node: string; readonly date: string; readonly rounds: number };
}

const verdicts = { goal: "goal reached", floor: "above the floor", missed: "**below the floor**" } as const;

/** The figures of all servers, and the result of the row, in Markdown. */
export function toTableLine(row: Row): string {
  const figures = Object.entries(row.figures).map(([name, value]) => `${name} ${value}`);
  const bound = row.better === "higher" ? "≥" : "≤";
  return `| ${row.id} | ${row.scenario} | ${figures.join(", ")} | ${row.measure} | ${row.value.toFixed(2)} | ${bound} ${row.goal} | ${bound} ${row.floor} | ${verdicts[standingOf(row)]} |`;
}

function toRunName({ date, machine, node, rounds }: MeasuredRow["run"]): string {
  return `${date}: ${machine}, Node ${node}, ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
}

/** `peers` are the names of the measured servers with their versions. */
export function toResultPage(rows: readonly MeasuredRow[], peers: readonly string[]): string {
  const runs = [...new Set(rows.map(({ run }) => toRunName(run)))];
  const lines = rows.map((row) => `${toTableLine(row)} ${runs.indexOf(toRunName(row.run)) + 1} |`);
  return `# Results of the benchmarks

\`npm run bench\` measures these scenarios and writes this page, [its plot](bench-live.svg) and \`bench/results.json\`. A filter measures some of them:
\`npm run bench -- P1b\`. [performance.md](performance.md#goals) describes how they are measured, lists the goals that are measured elsewhere, and
says why a value is below its goal.

Values are ratios of medians of the rounds; the servers take turns in each round. The last column is the number of the run:

${runs.map((run, at) => `${at + 1}. ${run}`).join("\n")}

Peers: ${peers.join(", ")}.

![The values as a share of their goals](bench-live.svg)

| goal | scenario | medians | measure | value | goal | floor | | run |
|---|---|---|---|---|---|---|---|---|
${lines.join("\n")}
`;
}
