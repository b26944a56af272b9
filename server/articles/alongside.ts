/** Several parts of one commit as one batch. */
import type { Alongside } from "../actors/port.ts";
import type { Batch, Partition } from "../storage/port.ts";

export function toBatch(partition: Partition, ...parts: readonly Alongside[]): Batch {
  return {
    partition,
    records: parts.flatMap((part) => part.records ?? []),
    logs: parts.flatMap((part) => part.logs ?? []),
    due: parts.flatMap((part) => part.due ?? []),
    require: parts.flatMap((part) => part.require ?? []),
  };
}
