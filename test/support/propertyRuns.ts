/**
 * Returns the number of runs of a property test. `PROPERTY_RUNS=10` makes each property run ten times as often, for a
 * longer search after a change of the code under test.
 */
export function toRuns(count: number): number {
  return Math.ceil(count * Number(process.env.PROPERTY_RUNS ?? 1));
}
