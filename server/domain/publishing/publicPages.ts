/**
 * PublicPages finds the content of a public page by its slug. It reads records and a blob, and must not open a room.
 *
 * The link is read on every request, so an unpublished page is gone at once. Only while the store is unavailable, a result
 * of the last second is used, unless this node has received the fact that the page was unpublished.
 */
import { LRUCache } from "lru-cache";
import type { PublicLinkMode } from "../../../api/schema/article.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageUnavailableError } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { AccessWatch } from "../identity/access/accessFacts.ts";
import { modeOf } from "./publicLinkView.ts";
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
}

export type FoundPage = PublishedPage | { readonly kind: "unpublished" } | { readonly kind: "unknown" };

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
    if (link?.value.context.slug !== slug || article === undefined) return unknown;
    const mode = modeOf(link.value);
    const { content, updatedAtMs, indexable } = link.value.context;
    if (mode === undefined || content === undefined || article.value.deletedAtMs !== undefined) return { kind: "unpublished" };
    const title = mode === "live" ? article.value.title : content.title;
    const { revision, contentHash } = content;
    const { workspaceId } = article.value;
    return { kind: "published", articleId, workspaceId, slug, mode, title, revision, contentHash, updatedAtMs, indexable };
  }

  return {
    async find(slug) {
      try {
        const page = await read(slug);
        lastKnown.set(slug, { page, atMs: storage.now() });
        return page;
      } catch (reason) {
        const known = lastKnown.get(slug);
        if (!(reason instanceof StorageUnavailableError) || known === undefined || storage.now() - known.atMs > lastKnownMs) throw reason;
        return known.page;
      }
    },
    markdown: ({ articleId, contentHash }) => storage.blobs.get(partitionOfId(articleId), contentHash),
  };
}
