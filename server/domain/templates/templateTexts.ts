/** TemplateTexts stores and reads the texts of templates. */
import { findInCollection } from "../../platform/storage/collectionRecord.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageDamagedError, type Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import { fromBlob, toBlob } from "../../platform/storage/textBlob.ts";
import { type TemplateRecord, templateRecord } from "./records.ts";

export interface FoundTemplate {
  readonly stored: Stored<TemplateRecord>;
  readonly content: string;
}

export interface TemplateTexts {
  /** Stores the text before the commit of the record that names it. */
  store(workspaceId: string, content: string): Promise<Pick<TemplateRecord, "blob" | "contentBytes">>;
  /** The text of a record that was just read; undefined if another request has replaced it meanwhile. */
  read(template: TemplateRecord): Promise<string | undefined>;
  /** The present record with its text. Undefined for a missing template and for one of another workspace. */
  find(workspaceId: string, templateId: string): Promise<FoundTemplate | undefined>;
}

export function createTemplateTexts(storage: Pick<Storage, "records" | "blobs">): TemplateTexts {
  async function read({ templateId, blob }: TemplateRecord): Promise<string | undefined> {
    const bytes = await storage.blobs.get(partitionOfId(templateId), blob);
    return bytes === undefined ? undefined : fromBlob(bytes);
  }

  return {
    read,
    async store(workspaceId, content) {
      const blob = await storage.blobs.put(partitionOfId(workspaceId), await toBlob(content));
      return { blob, contentBytes: Buffer.byteLength(content, "utf8") };
    },
    find: (workspaceId, templateId) =>
      retryOnConflict("template.read", async () => {
        const stored = await findInCollection(storage, templateRecord, workspaceId, templateId);
        if (stored === undefined) return undefined;
        const content = await read(stored.value);
        if (content !== undefined) return { stored, content };
        const now = await storage.records.get(templateRecord, templateId);
        if (now?.revision === stored.revision) throw new StorageDamagedError(`the text ${stored.value.blob} of ${templateId} is missing`);
        return conflict;
      }),
  };
}
