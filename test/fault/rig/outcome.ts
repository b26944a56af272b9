/** The result of a fault test as one line of JSON, with the same fields for each test, so that runs can be compared. */

export interface Outcome {
  readonly name: string;
  readonly load: string;
  readonly faults: string;
  /** Broken promises other than losses and doubles. */
  readonly bad: number;
  /** Number of acknowledgements, in the unit of the load. */
  readonly acked: number;
  readonly lost: number;
  readonly dup: number;
  /** Milliseconds that the scenario measures; 0 if it measures no time. */
  readonly p50: number;
  readonly p99: number;
  /** Maximum memory of one node. */
  readonly maxRssMiB: number;
}

/** Returns the value that this share of the values does not exceed; 0 if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}
