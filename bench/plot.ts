/**
 * `npm run bench:plot`: draws `bench/baseline.json` as `docs/bench.svg`, with one bar per scenario as a ratio to its
 * rival.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Result {
  readonly ratio: number;
  readonly floor: number;
  readonly goal: number;
}

const left = 150;
const barHeight = 22;
const rowHeight = 46;
const unit = 38;

function text(x: number, y: number, words: string, attributes = ""): string {
  return `<text x="${x}" y="${y}" ${attributes}>${words}</text>`;
}

function mark(value: number, y: number, dash: string): string {
  const x = left + value * unit;
  return `<line x1="${x}" y1="${y - 4}" x2="${x}" y2="${y + barHeight + 4}" stroke="#57606a" stroke-width="1.5" stroke-dasharray="${dash}"/>`;
}

/** The bars start at 0. The dashed line marks the minimum, the solid line the goal. */
function toPlot(results: Readonly<Record<string, Result>>): string {
  const rows = Object.entries(results);
  const widest = Math.max(...rows.map(([, { ratio, goal }]) => Math.max(ratio, goal)));
  const width = left + Math.ceil(widest * unit) + 90;
  const height = 58 + rows.length * rowHeight;
  const bars = rows.flatMap(([name, { ratio, floor, goal }], at) => {
    const y = 50 + at * rowHeight;
    return [
      text(left - 12, y + 16, name, 'text-anchor="end"'),
      `<rect x="${left}" y="${y}" width="${ratio * unit}" height="${barHeight}" rx="3" fill="${ratio >= goal ? "#2f5bd7" : "#8aa4ea"}"/>`,
      mark(floor, y, "3 3"),
      mark(goal, y, "none"),
      text(left + Math.max(ratio, goal) * unit + 10, y + 16, `${ratio} ×`, 'font-weight="600"'),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="14" fill="#1f2328">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(16, 26, "Requests per processor second, as a ratio to the rival (dashed: floor, whole: goal)"),
    ...bars,
    "</svg>\n",
  ].join("\n");
}

const root = join(import.meta.dirname, "..");
const { P7 } = JSON.parse(readFileSync(join(root, "bench/baseline.json"), "utf8")) as { P7: { results: Record<string, Result> } };
writeFileSync(join(root, "docs/bench.svg"), toPlot(P7.results));
