/** Public links of an article (specification: Public link of a document; api decisions: publishing). */
import { z } from "zod";
import { PublicLinkMode, PublicLinkState } from "./article.ts";
import { UnixSeconds } from "./common.ts";

export const LiveSyncStatus = z.enum(["synced", "pending", "syncing", "retrying", "failed"]).meta({ id: "LiveSyncStatus" });
export type LiveSyncStatus = z.infer<typeof LiveSyncStatus>;

export const LiveSync = z
  .strictObject({
    status: LiveSyncStatus,
    sourceRevision: z.int(),
    publishedRevision: z.int(),
    attempts: z.int(),
    lastSyncedAt: UnixSeconds.optional(),
    nextRetryAt: UnixSeconds.optional(),
    lastError: z.string().optional(),
  })
  .meta({ id: "LiveSync" });

/** `publishedRevision` is the article revision that the page shows. */
export const PublicLink = z
  .strictObject({
    articleId: z.string(),
    mode: PublicLinkMode,
    url: z.string(),
    slug: z.string(),
    state: PublicLinkState,
    publishedRevision: z.int(),
    publishedAt: UnixSeconds,
    publishedBy: z.string(),
    updatedAt: UnixSeconds,
    indexable: z.boolean(),
    gate: z.enum(["off", "warn", "block"]),
    expiresAt: UnixSeconds.optional(),
    snapshotAt: UnixSeconds.optional(),
    liveSync: LiveSync.optional(),
  })
  .meta({ id: "PublicLink" });
export type PublicLink = z.infer<typeof PublicLink>;

const PublicSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,118}[a-z0-9])?$/, "must be 1 to 120 of a-z, 0-9 and '-', starting and ending with a letter or digit");

/** `mode` defaults to Live on a new link and stays as it is on an existing one. */
export const PublicLinkRequest = z
  .strictObject({ mode: PublicLinkMode.optional(), slug: PublicSlug.optional(), indexable: z.boolean().optional() })
  .meta({ id: "PublicLinkRequest" });

/** The revision to freeze (a kept or committed one); absent: the newest. */
export const SnapshotRequest = z.strictObject({ revision: z.int().min(1).optional() }).meta({ id: "SnapshotRequest" });
