/** Finds the workspace of a template, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { templateRecord } from "./records.ts";

export function createLocateTemplate({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (templateId) => {
    const template = (await storage.records.get(templateRecord, templateId))?.value;
    return template === undefined ? undefined : { workspaceId: template.workspaceId };
  };
}
