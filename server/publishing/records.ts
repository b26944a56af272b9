/**
 * What is kept of public links: one actor of `machines/publicLink.ts` for each article that was ever public. The
 * content a page shows is a blob of Markdown that this record holds on to; unpublishing lets go of it.
 */
import type { PublicLinkContext } from "../../machines/publicLink.ts";
import type { ActorRecord } from "../actors/port.ts";
import { partitionOfId } from "../ids.ts";
import type { IndexKey } from "../storage/port.ts";
import { defineRecord } from "../storage/recordType.ts";

/** Its id is the article's. */
export type PublicLinkRecord = ActorRecord<PublicLinkContext>;

/** Read backwards: newest first. */
export function linksOf(workspaceId: string): IndexKey {
  return ["publicLink.workspace", workspaceId];
}

export const publicLinkRecord = defineRecord<PublicLinkRecord>({
  name: "publicLink",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
  indexes: ({ id, context }) => (context.content === undefined ? [] : [[...linksOf(context.workspaceId), context.publishedAtMs, id]]),
  blobs: ({ context }) => (context.content === undefined ? [] : [context.content.contentHash]),
});

export const publishingRecordTypes = [publicLinkRecord] as const;
