/**
 * LinkChange adds the consequences of a changed public link to its commit: the link summary of the article, the event of
 * the article's stream, the access fact for other nodes, and the due row that finds edits made meanwhile.
 */
import { isDeepStrictEqual } from "node:util";
import type { ArticleEventData } from "../../../api/schema/articleEvent.ts";
import { notFound } from "../../../api/schema/error.ts";
import type { Gather } from "../../platform/actors/port.ts";
import type { Partition, Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleEvents } from "../articles/port.ts";
import { type ArticleRecord, articleRecord, type PublicLinkSummary, withPublicLink } from "../articles/records.ts";
import { accessFactWrite } from "../identity/access/accessFacts.ts";
import { armEdited } from "./liveEdits.ts";
import { modeOf, toSummary } from "./publicLinkView.ts";
import type { PublicLinkRecord } from "./records.ts";

export interface LinkChangeOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly articleEvents: ArticleEvents;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly wake: (partition: Partition, dueAtMs: number) => void;
}

/** The article. Throws `not_found` if it does not exist or is in the trash. */
export async function readLiveArticle(storage: Pick<Storage, "records">, articleId: string): Promise<Stored<ArticleRecord>> {
  const article = await storage.records.get(articleRecord, articleId);
  if (article === undefined || article.value.deletedAtMs !== undefined) throw notFound();
  return article;
}

/** Data of the event `public_link.changed`: the link as its change leaves it. */
function toLinkEventData(link: PublicLinkRecord, baseUrl: string): ArticleEventData["public_link.changed"] {
  const summary = toSummary(link, baseUrl);
  if (summary === undefined) return {};
  const { mode, url, state } = summary;
  const { content } = link.context;
  return { publicLink: { mode, url, state }, ...(content === undefined ? {} : { publishedRevision: content.revision }) };
}

/** The members of a link whose change is an event of the article. The state of the synchronization is none of them. */
function toFacts(link: PublicLinkRecord) {
  const { slug, indexable, gate = "off", expiresAtMs, content } = link.context;
  return { mode: modeOf(link), isExpired: link.state === "expired", slug, indexable, gate, expiresAtMs, content };
}

/** The slug at which the page is public; undefined if it is not. */
function toShownSlug(summary: PublicLinkSummary | undefined): string | undefined {
  return summary?.state === "expired" ? undefined : summary?.slug;
}

/** Returns the consequences of a change that this account makes, or on whose behalf a timer fires. */
export type GatherLinkChange = (by: string) => Gather<PublicLinkRecord["context"]>;

export function createGatherLinkChange({ storage, articleEvents, baseUrl, wake }: LinkChangeOptions): GatherLinkChange {
  return (by) => async (unit, next, previous) => {
    const before = previous === null ? undefined : toSummary(previous.value, baseUrl);
    const after = toSummary(next, baseUrl);
    const article = await readLiveArticle(storage, next.id);
    const nowMs = storage.now();
    if (!isDeepStrictEqual(before, after)) unit.record(withPublicLink(article, after));
    // A synchronization that a request starts changes nothing yet.
    if (previous === null || !isDeepStrictEqual(toFacts(next), toFacts(previous.value))) {
      const { articleId, workspaceId, topicId } = article.value;
      const data = toLinkEventData(next, baseUrl);
      articleEvents.add(unit, { articleId, workspaceId, topicId, event: "public_link.changed", actor: by, data });
    }
    if (after?.state === "live" && before?.state !== "live") {
      // Edits between the freeze and this commit armed no row, because the link was not Live yet.
      unit.due(armEdited(next.id, nowMs));
      unit.afterCommit(() => wake(unit.partition, nowMs));
    }
    const shownSlug = toShownSlug(before);
    if (shownSlug !== undefined && shownSlug !== toShownSlug(after)) {
      unit.log(accessFactWrite({ kind: "link.unpublished", slug: shownSlug }));
    }
  };
}
