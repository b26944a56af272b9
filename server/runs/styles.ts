/**
 * Styles a run can be written in: kept in the workspace's settings under `styleProfiles`, by their id, as a text or as
 * an object with `content`.
 */
import { AppError } from "../../api/schema/error.ts";
import type { Json } from "../storage/port.ts";
import type { WorkspaceRecord } from "../workspaces/records.ts";

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Text of the style; undefined when the workspace has none of that id. */
export function findStyle({ settings }: Pick<WorkspaceRecord, "settings">, styleProfileId: string): string | undefined {
  const profiles = settings?.styleProfiles;
  if (!isObject(profiles) || !Object.hasOwn(profiles, styleProfileId)) return undefined;
  const profile = profiles[styleProfileId];
  const content = isObject(profile) ? profile.content : profile;
  return typeof content === "string" ? content : undefined;
}

export function requireStyle(workspace: Pick<WorkspaceRecord, "settings">, styleProfileId: string | undefined): void {
  if (styleProfileId === undefined || findStyle(workspace, styleProfileId) !== undefined) return;
  const message = "must be the id of a style in the workspace's settings (styleProfiles)";
  throw new AppError("validation_failed", `The member styleProfileId ${message}.`, {
    errors: [{ pointer: "/styleProfileId", code: "unknown_style", message }],
  });
}
