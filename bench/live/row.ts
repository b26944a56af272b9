/** Row is one line of the result table: a figure with its goal and its floor, both of which `bench` checks. */
export interface Row {
  /** Id of the goal in the table of goals, for example `P1`. */
  readonly id: string;
  readonly scenario: string;
  /** What the value is, for example "deliveries per CPU second ÷ relay". */
  readonly measure: string;
  readonly value: number;
  readonly goal: number;
  readonly floor: number;
  readonly better: "higher" | "lower";
  /** Medians behind the value, by server. */
  readonly figures: Readonly<Record<string, number>>;
}

export type Standing = "goal" | "floor" | "missed";

export function standingOf({ value, goal, floor, better }: Pick<Row, "value" | "goal" | "floor" | "better">): Standing {
  const reaches = (mark: number) => (better === "higher" ? value >= mark : value <= mark);
  if (reaches(goal)) return "goal";
  return reaches(floor) ? "floor" : "missed";
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
