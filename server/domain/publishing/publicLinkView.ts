/** Converts a public link record into the API's link and into the article's summary. Both are undefined while it is unpublished. */
import type { PublicLinkMode, PublicLinkState } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { LiveSyncStatus, PublicLink } from "../../../api/schema/publicLink.ts";
import type { PublicLinkSummary } from "../articles/records.ts";
import type { PublicLinkRecord } from "./records.ts";

export function notPublished(): AppError {
  return new AppError("not_published", "The article is not public.");
}

/** The mode of a link; an expired link has the mode that it had before. Undefined while it is unpublished. */
export function modeOf({ state, context }: Pick<PublicLinkRecord, "state" | "context">): PublicLinkMode | undefined {
  if (state === "unpublished") return undefined;
  return context.snapshotAtMs === undefined ? "live" : "snapshot";
}

/** True if the page is not public because its time is over, even if the timer of the machine has not fired yet. */
export function isExpired({ state, context: { expiresAtMs } }: Pick<PublicLinkRecord, "state" | "context">, nowMs: number): boolean {
  return state === "expired" || (state !== "unpublished" && expiresAtMs !== undefined && expiresAtMs <= nowMs);
}

/** Status of the synchronization of a Live link; undefined for a link that is not Live or has expired. */
export function syncStatusOf({ state }: Pick<PublicLinkRecord, "state">): LiveSyncStatus | undefined {
  return typeof state === "object" ? ((state as { readonly live: string }).live as LiveSyncStatus) : undefined;
}

function toPublicUrl(baseUrl: string, slug: string): string {
  return `${baseUrl}/p/${slug}`;
}

/** The title that the page shows. */
export function titleOf(record: PublicLinkRecord, article: { readonly title: string }): string {
  const { content } = record.context;
  return content === undefined || modeOf(record) === "live" ? article.title : content.title;
}

/** The link as the article's record has it: its state is that of the machine. */
export function toSummary(record: PublicLinkRecord, baseUrl: string): PublicLinkSummary | undefined {
  const mode = modeOf(record);
  if (mode === undefined) return undefined;
  const state: PublicLinkState = record.state === "expired" ? "expired" : mode;
  const { slug } = record.context;
  return { mode, state, slug, url: toPublicUrl(baseUrl, slug) };
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

export function toPublicLink(record: PublicLinkRecord, baseUrl: string, nowMs: number): PublicLink | undefined {
  const { articleId, slug, content, publishedAtMs, publishedBy, updatedAtMs, indexable, gate, expiresAtMs, snapshotAtMs } = record.context;
  const isOver = isExpired(record, nowMs);
  const mode = modeOf(record);
  if (mode === undefined || content === undefined) return undefined;
  return {
    articleId,
    mode,
    url: toPublicUrl(baseUrl, slug),
    slug,
    state: isOver ? "expired" : mode,
    publishedRevision: content.revision,
    publishedAt: publishedAtMs / 1000,
    publishedBy,
    updatedAt: updatedAtMs / 1000,
    indexable,
    gate: gate ?? "off",
    ...(expiresAtMs === undefined ? {} : { expiresAt: expiresAtMs / 1000 }),
    ...(snapshotAtMs === undefined ? {} : { snapshotAt: snapshotAtMs / 1000 }),
    ...(isOver ? {} : toLiveSync(record)),
  };
}
