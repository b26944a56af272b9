/**
 * cutKnownContent removes the content of known clocks from an update (RT108).
 *
 * Clients repeat content in a sync step 2, and a hostile client may send other text under known clocks. A document keeps the
 * text that came first, but a merge of two updates keeps the text of the update that begins earlier, so readers could get
 * different texts. Therefore no stored or relayed update may contain clocks of an earlier one.
 */
import * as Y from "yjs";
import { type InspectedUpdate, inspectUpdate } from "./inspectUpdate.ts";

/** `knownClock` returns the clock up to which the content of a client id is durable or queued. Deletions stay. */
export function cutKnownContent(
  update: InspectedUpdate,
  knownClock: (clientId: number) => number,
  limits: Parameters<typeof inspectUpdate>[1],
): InspectedUpdate {
  const overlaps = update.sections.filter(({ clientId, from }) => from < knownClock(clientId));
  if (overlaps.length === 0) return update;
  const known = new Map(overlaps.map(({ clientId }) => [clientId, knownClock(clientId)]));
  const cut = inspectUpdate(Y.diffUpdate(update.bytes, Y.encodeStateVector(known)), limits);
  if (cut.kind === "refused") throw new Error(`a part of an accepted update is not acceptable: ${cut.detail}`);
  return cut.update;
}
