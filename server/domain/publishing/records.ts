/**
 * Defines the record of public links: one actor of `machines/publicLink.ts` for each article that was ever public.
 *
 * The content of a page is a Markdown blob. The record keeps a reference to the blob until the article is unpublished.
 */
import type { PublicLinkContext } from "../../../machines/publicLink.ts";
import type { ActorRecord } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";

/** The id of the record is the article id. */
export type PublicLinkRecord = ActorRecord<PublicLinkContext>;

/** Index of a workspace's public links by publication time; read in reverse, the newest link is first. */
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
