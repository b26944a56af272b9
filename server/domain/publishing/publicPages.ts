/**
 * PublicPages finds the content of a public page by its slug. It reads records and a blob, and must not open a room.
 *
 * The link is read on every request, so an unpublished page is gone at once. Only while the store is unavailable, or does not
 * answer, a result of the last second is used (PL15), unless this node has received the fact that the page was unpublished.
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
  /** Time at which the page got its text. A change of its settings does not change it. */
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
/**
 * A store that has not answered for so long counts as unavailable. A shared store is retried for seconds, in which the last
 * known result would become too old.
 */
const patienceMs = 250;
/** Bytes of texts that are kept for the time without a store. */
const maxKeptTextBytes = 8 * 1024 * 1024;
const unknown: FoundPage = { kind: "unknown" };
const unpublished: FoundPage = { kind: "unpublished" };

export function createPublicPages({ storage, slugs, access }: PublicPagesOptions): PublicPages {
  /** Slug → latest result, and when its read began. Without a page: earlier results are not used any more. */
  const lastKnown = new LRUCache<string, { readonly page?: FoundPage; readonly atMs: number }>({ max: maxLastKnown });
  /** Content hash → text. A text never changes; whether it may be shown is decided by `find`. */
  const keptTexts = new LRUCache<string, Uint8Array>({
    maxSize: maxKeptTextBytes,
    sizeCalculation: (bytes) => Math.max(1, bytes.byteLength),
  });
  access.subscribe((fact) => {
    // Reads that began before the fact may still return the page.
    if (fact.kind === "link.unpublished") lastKnown.set(fact.slug, { atMs: storage.now() + 1 });
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
    const { content, contentAtMs, indexable, expiresAtMs } = link.value.context;
    if (mode === undefined || content === undefined || article.value.deletedAtMs !== undefined) return unpublished;
    if (isExpired(link.value, storage.now())) return unpublished;
    // The slug was claimed for this link, and no other page has claimed it since.
    if (link.value.context.slug !== slug) return { kind: "moved", slug: link.value.context.slug };
    const title = titleOf(link.value, article.value);
    const { revision, contentHash } = content;
    const updatedAtMs = contentAtMs ?? link.value.context.updatedAtMs;
    const { workspaceId } = article.value;
    return { kind: "published", articleId, workspaceId, slug, mode, title, revision, contentHash, updatedAtMs, indexable, expiresAtMs };
  }

  async function readAndKeep(slug: string): Promise<FoundPage> {
    const atMs = storage.now();
    const page = await read(slug);
    // A slower read must not replace the result of a later one.
    if ((lastKnown.get(slug)?.atMs ?? 0) <= atMs) lastKnown.set(slug, { page, atMs });
    return page;
  }

  /** The result of the last second. */
  function recall(slug: string): FoundPage | undefined {
    const known = lastKnown.get(slug);
    const nowMs = storage.now();
    if (known?.page === undefined || nowMs - known.atMs > lastKnownMs) return undefined;
    const { page } = known;
    return page.kind === "published" && page.expiresAtMs !== undefined && page.expiresAtMs <= nowMs ? unpublished : page;
  }

  return {
    async find(slug) {
      const reading = readAndKeep(slug);
      try {
        return await inTime(reading);
      } catch (reason) {
        if (!(reason instanceof StorageUnavailableError)) throw reason;
        return recall(slug) ?? reading;
      }
    },
    async markdown({ articleId, contentHash }) {
      const reading = storage.blobs.get(partitionOfId(articleId), contentHash);
      try {
        const bytes = await inTime(reading);
        if (bytes !== undefined) keptTexts.set(contentHash, bytes);
        return bytes;
      } catch (reason) {
        if (!(reason instanceof StorageUnavailableError)) throw reason;
        return keptTexts.get(contentHash) ?? reading;
      }
    },
  };
}

/** Rejects with a `StorageUnavailableError` if the store does not answer in time. */
async function inTime<Value>(reading: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // An answer that arrived while the event loop was busy is taken first.
      setImmediate(() => reject(new StorageUnavailableError("The store does not answer.")));
    }, patienceMs);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}
