/** What a fault test found, as one line of JSON: the same fields for each, so that runs can be laid side by side. */

export interface Outcome {
  readonly name: string;
  readonly load: string;
  readonly faults: string;
  /** Broken promises of any other kind than a loss or a double. */
  readonly bad: number;
  /** What was acknowledged, in the unit of the load. */
  readonly acked: number;
  readonly lost: number;
  readonly dup: number;
  /** Milliseconds of what the scenario measures; 0 where it measures no time. */
  readonly p50: number;
  readonly p99: number;
  /** The most that one node ever held. */
  readonly maxRssMiB: number;
}

/** The value that this share of the values does not pass; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}
