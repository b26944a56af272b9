/**
 * Finds a conversion for a request. A conversion belongs to an account: a missing one, one of another account, and one of
 * a workspace that the account or its key no longer reaches all look alike. If the source article is in another workspace
 * than the target, both workspaces must be reached, because the output shows the text of the source.
 */
import { notFound } from "../../../api/schema/error.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { Principal } from "../call/call.ts";
import { reaches, roleIn } from "../identity/workspaces/access.ts";
import { type WorkspaceRecord, workspaceRecord } from "../identity/workspaces/records.ts";
import { type ConversionRecord, conversionRecord } from "./records.ts";

/** Workspaces by id. A workspace that does not exist is missing. */
type Workspaces = ReadonlyMap<string, WorkspaceRecord>;

/** The workspaces of the target and of the source article. */
function workspaceIdsOf({ context: { workspaceId, sourceWorkspaceId } }: ConversionRecord): readonly string[] {
  return [workspaceId, sourceWorkspaceId].flatMap((id) => id ?? []);
}

async function readWorkspaces(storage: Pick<Storage, "records">, conversions: readonly ConversionRecord[]): Promise<Workspaces> {
  const ids = [...new Set(conversions.flatMap(workspaceIdsOf))];
  const found = ids.length === 0 ? [] : await storage.records.getMany(workspaceRecord, ids);
  return new Map(found.flatMap((stored) => (stored === undefined ? [] : [[stored.value.workspaceId, stored.value]])));
}

function isVisible(principal: Principal, conversion: ConversionRecord, workspaces: Workspaces): boolean {
  const { accountId, keyId } = conversion.context;
  if (accountId !== principal.accountId) return false;
  const ids = workspaceIdsOf(conversion);
  // Without a workspace, a key for some workspaces sees only what it has made itself.
  if (ids.length === 0) return principal.kind === "session" || principal.workspaceIds === undefined || principal.keyId === keyId;
  return ids.every((id) => {
    const workspace = workspaces.get(id);
    return workspace !== undefined && roleIn(workspace, accountId) !== undefined && reaches(principal, id);
  });
}

/** Returns the conversions in the order of `ids`; undefined for each that the principal does not see. */
export async function findConversions(
  storage: Pick<Storage, "records">,
  principal: Principal,
  ids: readonly string[],
): Promise<readonly (ConversionRecord | undefined)[]> {
  const found = (await storage.records.getMany(conversionRecord, ids)).map((stored) => stored?.value);
  const workspaces = await readWorkspaces(
    storage,
    found.flatMap((conversion) => conversion ?? []),
  );
  return found.map((conversion) => (conversion !== undefined && isVisible(principal, conversion, workspaces) ? conversion : undefined));
}

/** Throws `not_found`. */
export async function findConversion(
  storage: Pick<Storage, "records">,
  principal: Principal,
  conversionId: string,
): Promise<Stored<ConversionRecord>> {
  const found = await storage.records.get(conversionRecord, conversionId);
  if (found === undefined || !isVisible(principal, found.value, await readWorkspaces(storage, [found.value]))) throw notFound();
  return found;
}
