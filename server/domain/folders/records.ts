/**
 * Defines the stored record of folders.
 *
 * A folder may be a content project. Then it sets which approvals the runs of its topics require, and the length and
 * style of their texts. This module reads and writes nothing.
 */
import type { z } from "zod";
import type { KeywordMarketLocale } from "../../../api/schema/seo.ts";
import type { WordCountRange } from "../../../api/schema/topic.ts";
import { type CollectionRecord, defineCollectionRecord } from "../../platform/storage/collectionRecord.ts";

export interface ContentProject {
  readonly requireOutlineApproval: boolean;
  readonly requireDraftApproval: boolean;
  readonly wordCountRange?: WordCountRange;
  /** Id of a style in the workspace's settings. */
  readonly styleProfileId?: string;
  readonly marketLocale?: z.infer<typeof KeywordMarketLocale>;
  readonly includeGlobalVolume?: boolean;
}

export interface FolderRecord extends CollectionRecord {
  readonly folderId: string;
  readonly parentFolderId: string | null;
  readonly name: string;
  readonly slug: string;
  readonly contentProject?: ContentProject;
  readonly archivedAtMs?: number;
}

export const folderRecord = defineCollectionRecord<FolderRecord>({
  name: "folder",
  version: 1,
  id: { field: "folderId", prefix: "fld" },
});

export const folderRecordTypes = [folderRecord] as const;
