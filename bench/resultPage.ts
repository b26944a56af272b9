/** Writes the results of `npm run bench` as a page for people. `bench/results.json` contains the same rows for programs. */
import { type Row, type Standing, standingOf } from "./live/row.ts";

/** A row of the results file. It names its own run, because rows of several runs are kept together. */
export interface MeasuredRow extends Row {
  readonly run: { readonly machine: string; readonly node: string; readonly date: string; readonly rounds: number };
}

/** The goal that compares an operation with itself at another size. Most rows belong to it, so it has its own table. */
const sizeGoal = "P10";
const worstFirst: readonly Standing[] = ["missed", "floor", "goal"];

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
  const toTable = (shown: readonly MeasuredRow[]) => `| goal | scenario | medians | measure | value | goal | floor | | run |
|---|---|---|---|---|---|---|---|---|
${shown.map((row) => `${toTableLine(row)} ${runs.indexOf(toRunName(row.run)) + 1} |`).join("\n")}`;
  const rank = (row: Row) => worstFirst.indexOf(standingOf(row));
  const bySize = rows.filter(({ id }) => id === sizeGoal).toSorted((a, b) => rank(a) - rank(b));
  const missed = bySize.filter((row) => standingOf(row) === "missed").length;
  return `# Results of the benchmarks

\`npm run bench\` measures these scenarios and writes this page, [its plot](bench-live.svg) and \`bench/results.json\`. A filter measures some of them:
\`npm run bench -- P1b\`. [performance.md](performance.md#goals) describes how they are measured, lists the goals that are measured elsewhere, and
says why a value is below its goal. [scale.md](scale.md) calculates from such figures how many people a node carries.

Values are ratios of medians of the rounds; the servers take turns in each round. The last column is the number of the run:

${runs.map((run, at) => `${at + 1}. ${run}`).join("\n")}

Peers: ${peers.join(", ")}.

![The values as a share of their goals](bench-live.svg)

${toTable(rows.filter(({ id }) => id !== sizeGoal))}

## Cost against size (${sizeGoal})

Each row compares an operation with itself at the smallest size. ${missed} of ${bySize.length} rows are below the floor; they come first.

${toTable(bySize)}
`;
}
