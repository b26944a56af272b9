/**
 * PublicPages finds the content of a public page by its slug. It reads records and a blob, and must not open a room.
 *
 * The link is read on every request, so an unpublished page is gone at once. Only while the store is unavailable, a result
 * of the last second is used, unless this node has received the fact that the page was unpublished.
 */
import { LRUCache } from "lru-cache";
import type { PublicLinkMode } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageUnavailableError } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { AccessWatch } from "../identity/access/accessFacts.ts";
import { isExpired, modeOf, titleOf } from "./publicLinkView.ts";
import { publicLinkRecord } from "./records.ts";
import type { Slugs } from "./slugs.ts";

export interface PublishedPage {
  readonly kind: "published";
  readonly articleId: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly mode: PublicLinkMode;
  /** Live: the current title of the article. Snapshot: the title when the text was frozen. */
  readonly title: string;
  /** The article revision that the page shows. */
  readonly revision: number;
  readonly contentHash: string;
  readonly updatedAtMs: number;
  readonly indexable: boolean;
  /** Store time from which the page is not public. */
  readonly expiresAtMs?: number | undefined;
}

export type FoundPage =
  | PublishedPage
  /** The page has another slug now. */
  | { readonly kind: "moved"; readonly slug: string }
  /** The page was public and is not any more: unpublished or expired. */
  | { readonly kind: "unpublished" }
  | { readonly kind: "unknown" };

/** The error for a slug without a public page. */
export function noPage(kind: "unpublished" | "unknown", headers: Readonly<Record<string, string>> = {}): AppError {
  if (kind === "unknown") return new AppError("not_found", "There is no public page at this address.", {}, headers);
  return new AppError("unpublished", "This page is no longer public: its authors took it down, or its time is over.", {}, headers);
}

export interface PublicPages {
  find(slug: string): Promise<FoundPage>;
  /** The UTF-8 Markdown of the page. Undefined when the content was replaced meanwhile; the caller must call `find` again. */
  markdown(page: Pick<PublishedPage, "articleId" | "contentHash">): Promise<Uint8Array | undefined>;
}

export interface PublicPagesOptions {
  readonly storage: Pick<Storage, "records" | "blobs" | "now">;
  readonly slugs: Pick<Slugs, "find">;
  readonly access: Pick<AccessWatch, "subscribe">;
}

const lastKnownMs = 1000;
const maxLastKnown = 1000;
const unknown: FoundPage = { kind: "unknown" };
const unpublished: FoundPage = { kind: "unpublished" };

export function createPublicPages({ storage, slugs, access }: PublicPagesOptions): PublicPages {
  /** Slug → latest result. */
  const lastKnown = new LRUCache<string, { readonly page: FoundPage; readonly atMs: number }>({ max: maxLastKnown });
  access.subscribe((fact) => {
    if (fact.kind === "link.unpublished") lastKnown.delete(fact.slug);
  });

  async function read(slug: string): Promise<FoundPage> {
    const articleId = await slugs.find(slug);
    if (articleId === undefined) return unknown;
    const [link, article] = await Promise.all([
      storage.records.get(publicLinkRecord, articleId),
      storage.records.get(articleRecord, articleId),
    ]);
    if (link === undefined || article === undefined) return unknown;
    const mode = modeOf(link.value);
    const { content, updatedAtMs, indexable, expiresAtMs } = link.value.context;
    if (mode === undefined || content === undefined || article.value.deletedAtMs !== undefined) return unpublished;
    if (isExpired(link.value, storage.now())) return unpublished;
    // The slug was claimed for this link, and no other page has claimed it since.
    if (link.value.context.slug !== slug) return { kind: "moved", slug: link.value.context.slug };
    const title = titleOf(link.value, article.value);
    const { revision, contentHash } = content;
    const { workspaceId } = article.value;
    return { kind: "published", articleId, workspaceId, slug, mode, title, revision, contentHash, updatedAtMs, indexable, expiresAtMs };
  }

  return {
    async find(slug) {
      try {
        const page = await read(slug);
        lastKnown.set(slug, { page, atMs: storage.now() });
        return page;
      } catch (reason) {
        const known = lastKnown.get(slug);
        const nowMs = storage.now();
        if (!(reason instanceof StorageUnavailableError) || known === undefined || nowMs - known.atMs > lastKnownMs) throw reason;
        const { page } = known;
        return page.kind === "published" && page.expiresAtMs !== undefined && page.expiresAtMs <= nowMs ? unpublished : page;
      }
    },
    markdown: ({ articleId, contentHash }) => storage.blobs.get(partitionOfId(articleId), contentHash),
  };
}
