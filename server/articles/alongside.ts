/** Several parts of one commit as one. */
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

/** The same, still to be joined with others; `started` calls all of theirs. */
export function toAlongside(parts: readonly Alongside[]): Alongside {
  const { partition: _partition, ...batch } = toBatch(0, ...parts);
  return {
    ...batch,
    started() {
      for (const part of parts) part.started?.();
    },
  };
}
