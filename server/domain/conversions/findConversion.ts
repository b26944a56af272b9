/**
 * Finds a conversion for a request. A conversion belongs to an account: a missing one, one of another account, and one of
 * a workspace that the account or its key no longer reaches all look alike.
 */
import { notFound } from "../../../api/schema/error.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { Principal } from "../call/call.ts";
import { reaches, roleIn } from "../identity/workspaces/access.ts";
import { type WorkspaceRecord, workspaceRecord } from "../identity/workspaces/records.ts";
import { type ConversionRecord, conversionRecord } from "./records.ts";

/** `workspace` is that of the conversion, if it has one and it exists. */
export function isVisible(principal: Principal, { context }: ConversionRecord, workspace: WorkspaceRecord | undefined): boolean {
  const { accountId, workspaceId, keyId } = context;
  if (accountId !== principal.accountId) return false;
  if (workspaceId !== undefined) {
    return workspace !== undefined && roleIn(workspace, accountId) !== undefined && reaches(principal, workspaceId);
  }
  // Without a workspace, a key for some workspaces sees only what it has made itself.
  return principal.kind === "session" || principal.workspaceIds === undefined || principal.keyId === keyId;
}

/** Throws `not_found`. */
export async function findConversion(
  storage: Pick<Storage, "records">,
  principal: Principal,
  conversionId: string,
): Promise<Stored<ConversionRecord>> {
  const found = await storage.records.get(conversionRecord, conversionId);
  if (found === undefined) throw notFound();
  const { workspaceId } = found.value.context;
  const workspace = workspaceId === undefined ? undefined : await storage.records.get(workspaceRecord, workspaceId);
  if (!isVisible(principal, found.value, workspace?.value)) throw notFound();
  return found;
}
