/** Defines the stored record of templates. */
import { type CollectionRecord, defineCollectionRecord } from "../../server/platform/storage/collectionRecord.ts";
import type { IndexKey } from "../../server/platform/storage/port.ts";

export interface TemplateRecord extends CollectionRecord {
  readonly templateId: string;
  readonly name: string;
  readonly content: string;
}

export const templatesByName = (workspaceId: string): IndexKey => ["template.byName", workspaceId];

export const templateRecord = defineCollectionRecord<TemplateRecord>({
  name: "template",
  version: 1,
  id: { field: "templateId", prefix: "tpl" },
  indexes: ({ workspaceId, name, templateId }) => [[...templatesByName(workspaceId), name.toLowerCase(), templateId]],
  unique: ({ workspaceId, name }) => [["template.name", workspaceId, name.toLowerCase()]],
});
