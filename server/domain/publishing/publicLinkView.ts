/** Converts a public link record into the API's link and into the article's summary. Both are undefined while it is unpublished. */
import type { PublicLinkMode } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { LiveSyncStatus, PublicLink } from "../../../api/schema/publicLink.ts";
import type { PublicLinkSummary } from "../articles/records.ts";
import type { PublicLinkRecord } from "./records.ts";

export function notPublished(): AppError {
  return new AppError("not_published", "The article is not public.");
}

export function modeOf({ state }: Pick<PublicLinkRecord, "state">): PublicLinkMode | undefined {
  if (state === "snapshot") return "snapshot";
  return typeof state === "object" ? "live" : undefined;
}

/** Status of the synchronization of a Live link; undefined for a link that is not Live. */
export function syncStatusOf({ state }: Pick<PublicLinkRecord, "state">): LiveSyncStatus | undefined {
  return typeof state === "object" ? ((state as { readonly live: string }).live as LiveSyncStatus) : undefined;
}

function toPublicUrl(baseUrl: string, slug: string): string {
  return `${baseUrl}/p/${slug}`;
}

export function toSummary(record: PublicLinkRecord, baseUrl: string): PublicLinkSummary | undefined {
  const mode = modeOf(record);
  const { slug } = record.context;
  return mode === undefined ? undefined : { mode, state: mode, slug, url: toPublicUrl(baseUrl, slug) };
}

function toLiveSync(record: PublicLinkRecord): Pick<PublicLink, "liveSync"> {
  const status = syncStatusOf(record);
  const { sync, content } = record.context;
  if (status === undefined || content === undefined) return {};
  return {
    liveSync: {
      status,
      sourceRevision: Math.max(sync.sourceRevision, content.revision),
      publishedRevision: content.revision,
      attempts: sync.attempts,
      ...(sync.lastSyncedAtMs === undefined ? {} : { lastSyncedAt: sync.lastSyncedAtMs / 1000 }),
      ...(sync.nextRetryAtMs === undefined ? {} : { nextRetryAt: sync.nextRetryAtMs / 1000 }),
      ...(sync.lastError === undefined ? {} : { lastError: sync.lastError }),
    },
  };
}

export function toPublicLink(record: PublicLinkRecord, baseUrl: string): PublicLink | undefined {
  const { articleId, slug, content, publishedAtMs, publishedBy, updatedAtMs, indexable, snapshotAtMs } = record.context;
  const mode = modeOf(record);
  if (mode === undefined || content === undefined) return undefined;
  return {
    articleId,
    mode,
    url: toPublicUrl(baseUrl, slug),
    slug,
    state: mode,
    publishedRevision: content.revision,
    publishedAt: publishedAtMs / 1000,
    publishedBy,
    updatedAt: updatedAtMs / 1000,
    indexable,
    gate: "off",
    ...(snapshotAtMs === undefined ? {} : { snapshotAt: snapshotAtMs / 1000 }),
    ...toLiveSync(record),
  };
}
