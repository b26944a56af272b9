/**
 * Finds the writing styles of a workspace.
 *
 * They are in the workspace's settings under `styleProfiles`, keyed by id. Each one is a text, or an object with the
 * text in `content`.
 */
import type { Json, Storage } from "../../../platform/storage/port.ts";
import { refuseField } from "../../call/refuseField.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../identity/workspaces/records.ts";

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Text of the style. Undefined if the workspace has no style with this id. */
export function findStyle({ settings }: Pick<WorkspaceRecord, "settings">, styleProfileId: string): string | undefined {
  const profiles = settings?.styleProfiles;
  if (!isObject(profiles) || !Object.hasOwn(profiles, styleProfileId)) return undefined;
  const profile = profiles[styleProfileId];
  const content = isObject(profile) ? profile.content : profile;
  return typeof content === "string" ? content : undefined;
}

export async function requireStyleOf(
  storage: Pick<Storage, "records">,
  workspaceId: string,
  styleProfileId: string | undefined,
): Promise<void> {
  if (styleProfileId === undefined) return;
  const workspace = await storage.records.get(workspaceRecord, workspaceId);
  if (workspace !== undefined && findStyle(workspace.value, styleProfileId) !== undefined) return;
  throw refuseField("styleProfileId", "must be the id of a style in the workspace's settings (styleProfiles)", "unknown_style");
}
