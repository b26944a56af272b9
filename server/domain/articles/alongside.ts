/** Joins the parts of a storage commit that different modules prepared. */
import type { Alongside } from "../../platform/actors/port.ts";
import type { Batch, Partition } from "../../platform/storage/port.ts";

export function toBatch(partition: Partition, ...parts: readonly Alongside[]): Batch {
  return {
    partition,
    records: parts.flatMap((part) => part.records ?? []),
    logs: parts.flatMap((part) => part.logs ?? []),
    due: parts.flatMap((part) => part.due ?? []),
    require: parts.flatMap((part) => part.require ?? []),
  };
}

/** Joins parts into one part that can be joined again. Its `started` calls the `started` of every part. */
export function toAlongside(parts: readonly Alongside[]): Alongside {
  const { partition: _partition, ...batch } = toBatch(0, ...parts);
  return {
    ...batch,
    started() {
      for (const part of parts) part.started?.();
    },
  };
}
