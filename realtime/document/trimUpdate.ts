/** trimUpdate removes the content of some client ids from an update, and the deletions of their text from a clock on. */
import * as encoding from "lib0/encoding";
import type { RoomLimits } from "../ports.ts";
import { type ClockRange, type InspectedUpdate, inspectUpdate } from "./inspectUpdate.ts";

/**
 * Returns the trimmed update. `knownOf` returns undefined for a client id that is not trimmed. For a trimmed client id it
 * returns the clock up to which deletions are kept.
 */
export function trimUpdate(
  update: InspectedUpdate,
  knownOf: (clientId: number) => number | undefined,
  limits: Pick<RoomLimits, "update.clientIds" | "update.run">,
): InspectedUpdate {
  const sections = update.sections.filter((section) => knownOf(section.clientId) === undefined);
  const deletes = new Map<number, ClockRange[]>();
  for (const range of update.deletes) {
    const to = Math.min(range.to, knownOf(range.clientId) ?? range.to);
    if (to <= range.from) continue;
    const ranges = deletes.get(range.clientId) ?? [];
    ranges.push({ ...range, to });
    deletes.set(range.clientId, ranges);
  }
  const bytes = encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, sections.length);
    for (const { start, end } of sections) encoding.writeUint8Array(encoder, update.bytes.subarray(start, end));
    encoding.writeVarUint(encoder, deletes.size);
    for (const [clientId, ranges] of deletes) {
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, ranges.length);
      for (const { from, to } of ranges) {
        encoding.writeVarUint(encoder, from);
        encoding.writeVarUint(encoder, to - from);
      }
    }
  });
  const trimmed = inspectUpdate(bytes, limits);
  if (trimmed.kind === "refused") throw new Error(`a part of an accepted update is not acceptable: ${trimmed.detail}`);
  return trimmed.update;
}
