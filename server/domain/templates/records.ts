/**
 * Defines the stored record of templates.
 *
 * The text is a blob, so that a template can be found, listed and counted without reading it. This module reads and
 * writes nothing.
 */
import type { TemplateVariable } from "../../../api/schema/template.ts";
import type { ArticleFormat, ArticleType } from "../../../api/schema/topic.ts";
import { type CollectionRecord, defineCollectionRecord } from "../../platform/storage/collectionRecord.ts";
import type { IndexKey } from "../../platform/storage/port.ts";
import { toTitleOrder } from "../call/titleOrder.ts";

export interface TemplateRecord extends CollectionRecord {
  readonly templateId: string;
  readonly name: string;
  readonly description: string;
  /** Key of the deflated text in the blob store. */
  readonly blob: string;
  /** Length of the text in UTF-8. */
  readonly contentBytes: number;
  readonly articleType?: ArticleType;
  readonly articleFormat?: ArticleFormat;
  readonly variables: readonly TemplateVariable[];
  /** Username. */
  readonly createdBy: string;
}

/** Name of the unique rule on the name of a template in its workspace. */
export const templateNameRule = "template.name";

export const templateLists = {
  byName: (workspaceId: string): IndexKey => ["template.byName", workspaceId],
};

export const templateRecord = defineCollectionRecord<TemplateRecord>({
  name: "template",
  version: 1,
  id: { field: "templateId", prefix: "tpl" },
  indexes: ({ workspaceId, name, templateId }) => [[...templateLists.byName(workspaceId), toTitleOrder(name), templateId]],
  unique: ({ workspaceId, name }) => [[templateNameRule, workspaceId, name.toLowerCase()]],
  blobs: ({ blob }) => [blob],
});

export const templateRecordTypes = [templateRecord] as const;
