/** Draws result rows as bars: how far each value is from its goal. 1 is the goal; the dashed mark is the floor. */
import { type Row, standingOf } from "./live/row.ts";

const left = 470;
const unit = 150;
const barHeight = 18;
const rowHeight = 30;
/** Bars end here, so that one very good value does not make all others invisible. */
const maxShare = 2.5;

const colours = { goal: "#2f5bd7", floor: "#8aa4ea", missed: "#c2410c" } as const;

function text(x: number, y: number, words: string, attributes = ""): string {
  return `<text x="${x}" y="${y}" ${attributes}>${words.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;
}

/** The value as a share of its goal, so that higher is better in every row. */
function shareOfGoal(value: number, { goal, better }: Row): number {
  return Math.max(0, better === "higher" ? value / goal : goal / Math.max(value, 1e-9));
}

export function toRatioPlot(rows: readonly Row[]): string {
  const width = left + maxShare * unit + 110;
  const height = 60 + rows.length * rowHeight;
  const lines = rows.flatMap((row, at) => {
    const y = 48 + at * rowHeight;
    const share = Math.min(maxShare, shareOfGoal(row.value, row));
    const floor = left + shareOfGoal(row.floor, row) * unit;
    return [
      text(left - 12, y + 13, `${row.id}  ${row.scenario}: ${row.measure}`, 'text-anchor="end"'),
      `<rect x="${left}" y="${y}" width="${(share * unit).toFixed(1)}" height="${barHeight}" rx="3" fill="${colours[standingOf(row)]}"/>`,
      `<line x1="${floor.toFixed(1)}" y1="${y - 3}" x2="${floor.toFixed(1)}" y2="${y + barHeight + 3}" stroke="#57606a" stroke-width="1.5" stroke-dasharray="3 3"/>`,
      text(left + share * unit + 8, y + 13, row.value.toFixed(2), 'font-weight="600"'),
    ];
  });
  const goal = left + unit;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="12" fill="#1f2328">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(16, 24, "Values as a share of their goal (whole line: goal, dashed: floor; longer is better)", 'font-size="14"'),
    `<line x1="${goal}" y1="38" x2="${goal}" y2="${height - 8}" stroke="#57606a" stroke-width="1.5"/>`,
    ...lines,
    "</svg>\n",
  ].join("\n");
}
