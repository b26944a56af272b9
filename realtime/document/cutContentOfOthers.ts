/**
 * cutContentOfOthers removes new content under client ids of other authors' open sockets from an update (RT12).
 *
 * If such content were stored, Yjs would ignore what those sockets write next under the same clocks. It can be legitimate,
 * because clients repair a loss together. Therefore it is cut out, and its owner is asked for it. Clocks without text are
 * legitimate only in a sync step 2, which contains everything that the client has.
 * Sockets of one author may write for each other: an old socket may be dead without being closed, and its successor must
 * get everything that it sent stored. An owner on another node sends its content there. The sender is therefore asked
 * again when this node has read the content.
 */
import type { ClockRange, InspectedUpdate } from "./inspectUpdate.ts";
import { trimUpdate } from "./trimUpdate.ts";
import type { ClientIdOwners, CutContent, UpdateRequest } from "./verdict.ts";
import { refused } from "./verdict.ts";

/** The update without the content of others. */
export interface OwnContent<Sender> extends CutContent<Sender> {
  readonly kind: "own";
  readonly update: InspectedUpdate;
}

/** `knownClock` returns the clock up to which the content of a client id is durable or queued. */
export function cutContentOfOthers<Sender>(
  { update, sender, isSyncStep2 }: UpdateRequest<Sender>,
  clientIds: ClientIdOwners<Sender>,
  knownClock: (clientId: number) => number,
  limits: Parameters<typeof trimUpdate>[2],
): OwnContent<Sender> | ReturnType<typeof refused> {
  const owners = new Map<number, Sender | undefined>();
  let hasRuns = false;
  const isOfOther = (range: ClockRange) => {
    const owner = clientIds.ownerOf(range.clientId);
    if ((owner !== undefined && owner === sender) || range.to <= knownClock(range.clientId)) return false;
    if (owner === undefined && !clientIds.isOnOtherNode(range.clientId, sender)) return false;
    if (owner !== undefined && sender !== undefined && clientIds.mayWriteFor(sender, owner)) return false;
    owners.set(range.clientId, owner);
    return true;
  };
  for (const section of update.sections) if (isOfOther(section)) hasRuns ||= section.hasRuns;
  for (const range of update.deletes) isOfOther(range);
  if (owners.size === 0) return { kind: "own", update, owners: [], awaitsOtherNodes: false };
  if (sender === undefined || (hasRuns && !isSyncStep2)) {
    const [clientId] = owners.keys();
    return refused("content_not_accepted", `The client id ${clientId} belongs to another open socket.`);
  }
  const own = trimUpdate(update, (clientId) => (owners.has(clientId) ? knownClock(clientId) : undefined), limits);
  const here = [...new Set(owners.values())].filter((owner) => owner !== undefined);
  return { kind: "own", update: own, owners: here, awaitsOtherNodes: [...owners.values()].includes(undefined) };
}
