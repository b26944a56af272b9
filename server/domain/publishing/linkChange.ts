/**
 * Adds to the commit of a public link what changes with it: the link summary of the article, the access fact for other
 * nodes, and the due row that finds edits made meanwhile.
 */
import { notFound } from "../../../api/schema/error.ts";
import type { Gather } from "../../platform/actors/port.ts";
import type { Partition, Storage, Stored } from "../../platform/storage/port.ts";
import { type ArticleRecord, articleRecord, withPublicLink } from "../articles/records.ts";
import { accessFactWrite } from "../identity/access/accessFacts.ts";
import { armEdited } from "./liveEdits.ts";
import { toSummary } from "./publicLinkView.ts";
import type { PublicLinkRecord } from "./records.ts";

export interface LinkChangeOptions {
  readonly storage: Pick<Storage, "records" | "now">;
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

export function createGatherLinkChange({ storage, baseUrl, wake }: LinkChangeOptions): Gather<PublicLinkRecord["context"]> {
  return async (unit, next, previous) => {
    const before = previous === null ? undefined : toSummary(previous.value, baseUrl);
    const after = toSummary(next, baseUrl);
    const article = await readLiveArticle(storage, next.id);
    const nowMs = storage.now();
    const releasedSlug = before !== undefined && before.slug !== after?.slug ? before.slug : undefined;
    if (before?.mode !== after?.mode || releasedSlug !== undefined) unit.record(withPublicLink(article, after));
    if (after?.mode === "live" && before?.mode !== "live") {
      // Edits between the freeze and this commit armed no row, because the link was not Live yet.
      unit.due(armEdited(next.id, nowMs));
      unit.afterCommit(() => wake(unit.partition, nowMs));
    }
    if (releasedSlug !== undefined) unit.log(accessFactWrite({ kind: "link.unpublished", slug: releasedSlug }));
  };
}
