/**
 * ScaleInputs formats the measured costs for docs/scale.md, and chooses the value that the page calculates with.
 *
 * An input that does not agree with the same figure of `npm run bench` counts with the higher of the two values.
 */
import type { Row } from "../live/row.ts";
import type { Costs } from "./costs.ts";

const places = (value: number) => (value >= 100 ? 0 : value >= 10 ? 1 : 2);
export const show = (value: number, digits = places(value)) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const whole = (value: number) => show(value, 0);
/** Two significant digits: a calculated number of machines is not exact. */
export const about = (value: number) => Number(value.toPrecision(2)).toLocaleString("en");

/** Rows of `npm run bench` that measure the same as an input, with the unit of that input. */
const sameAsRow: Readonly<
  Record<string, { readonly scenario: string; readonly measure: string; readonly toInput: (ours: number) => number }>
> = {
  keystroke: {
    scenario: "500 documents × 2 clients, one update a second each",
    measure: "deliveries per CPU second ÷ y-websocket",
    toInput: (perSecond) => 1e6 / perSecond,
  },
  process: { scenario: "idle process", measure: "MB resident after start", toInput: (megabytes) => megabytes },
};
/** Above this ratio, two measurements of the same thing do not agree. */
const maxRatio = 1.25;
/** Above this number of updates in an append, the figures of an append are too high for a keystroke. */
const maxMerged = 1.2;

interface Contradiction {
  readonly key: string;
  readonly scenario: string;
  readonly inRow: number;
}

export interface Inputs {
  /** The value that the page calculates with. Throws if the input was never measured. */
  of(key: string): number;
  readonly machines: string;
  /** Rows of the table of inputs. */
  readonly rows: string;
  /** Paragraphs about inputs that need care, each with an empty line behind it. */
  readonly notes: string;
}

/** One line for each machine and version of Node, with the groups that were measured there. */
function listMachines(figures: Costs["figures"]): string {
  const groups = new Map<string, Set<string>>();
  for (const { machine, node, from } of Object.values(figures)) {
    const place = `${machine}, Node ${node.replace(/^v/, "")}`;
    groups.set(place, (groups.get(place) ?? new Set()).add(`\`${from}\``));
  }
  return [...groups].map(([place, names]) => `- ${place}: ${[...names].join(", ")}`).join("\n");
}

function findContradictions(figures: Costs["figures"], rows: readonly Row[]): readonly Contradiction[] {
  return Object.entries(sameAsRow).flatMap(([key, { scenario, measure, toInput }]) => {
    const value = figures[key]?.value;
    const ours = rows.find((row) => row.scenario === scenario && row.measure === measure)?.figures.ours;
    if (value === undefined || ours === undefined) return [];
    const inRow = toInput(ours);
    return Math.max(value / inRow, inRow / value) <= maxRatio ? [] : [{ key, scenario, inRow }];
  });
}

/** `rows`: the last results of `npm run bench`. */
export function readInputs({ figures }: Costs, rows: readonly Row[]): Inputs {
  const contradictions = findContradictions(figures, rows);
  const figureOf = (key: string) => {
    const figure = figures[key];
    if (figure === undefined) throw new Error(`bench/costs.json has no figure ${key}; run npm run bench:costs`);
    return figure;
  };
  const of = (key: string): number =>
    Math.max(figureOf(key).value, ...contradictions.filter((other) => other.key === key).map(({ inRow }) => inRow));
  const describe = ({ key, scenario, inRow }: Contradiction) => {
    const { value, unit } = figureOf(key);
    return `- \`${key}\`: ${show(value)} ${unit} here, ${show(inRow)} ${unit} in [bench.md](bench.md) ("${scenario}").`;
  };

  const notes: string[] = [];
  if (of("merged") > maxMerged) {
    const each = (key: string) => `${show(of(key) / of("merged"))} µs (\`${key}\` ÷ \`merged\`)`;
    notes.push(`The group \`redis\` was measured on a busy machine: updates waited, and ${show(of("merged"))} of them shared an append (\`merged\`). A keystroke of that run therefore
cost the two nodes ${each("keystrokeOnTwo")} and Redis ${each("redisKeystroke")}. When updates do not wait, each keystroke is one append. So this
page calculates with the values for an append: they are the most that a keystroke costs. For one node on Redis \`merged\` was not recorded.`);
  }
  if (contradictions.length > 0) {
    notes.push(`These inputs do not agree with the last benchmark. This page calculates with the higher value of the two, because too many nodes do less harm than too few:

${contradictions.map(describe).join("\n")}`);
  }
  return {
    of,
    machines: listMachines(figures),
    rows: Object.entries(figures)
      .map(([key, { value, unit, what, from, date }]) => `| \`${key}\` | ${show(value)} ${unit} | ${what} | \`${from}\` | ${date} |`)
      .join("\n"),
    notes: notes.map((note) => `${note}\n\n`).join(""),
  };
}
