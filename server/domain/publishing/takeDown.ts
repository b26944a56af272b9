/**
 * TakeDown handles the public link of a deleted article. The commit that deletes the article unpublishes the link. Once
 * the article is deleted for good, a due row removes the link, which frees its slug.
 */
import type { ActorRuntime, Alongside, DueWorker } from "../../platform/actors/port.ts";
import type { DueWrite, Storage } from "../../platform/storage/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import { accessFactWrite } from "../identity/access/accessFacts.ts";
import type { PublicLinkKind } from "./publicLinkKind.ts";
import { modeOf } from "./publicLinkView.ts";
import { publicLinkRecord } from "./records.ts";

export const collectRowKind = "publicLink.collect";
const dayMs = 24 * 60 * 60 * 1000;

export interface TakeDown {
  /** Returns the changes for the commit that deletes the article. They do not include the article record, which that commit writes. */
  articleDeleted(article: Pick<ArticleRecord, "articleId">): Promise<Alongside>;
  /** Due row worker that removes the link of an article that no longer exists. */
  readonly collect: DueWorker;
}

export interface TakeDownOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "move" | "remove">;
  readonly kind: PublicLinkKind;
}

export function createTakeDown({ storage, actors, kind }: TakeDownOptions): TakeDown {
  return {
    async articleDeleted({ articleId }) {
      const link = await storage.records.get(publicLinkRecord, articleId);
      if (link === undefined) return {};
      const row = {
        id: `${collectRowKind}/${articleId}`,
        kind: collectRowKind,
        dueAtMs: storage.now() + dayMs,
        payload: { articleId },
        attempts: 0,
      };
      const collect: DueWrite = { op: "schedule", row };
      if (modeOf(link.value) === undefined) return { due: [collect] };
      const { batch, started } = actors.move(kind, link, { type: "link.unpublish" });
      return {
        ...batch,
        due: [...(batch.due ?? []), collect],
        logs: [accessFactWrite({ kind: "link.unpublished", slug: link.value.context.slug })],
        started,
      };
    },

    async collect(row) {
      const { articleId } = row.payload as { readonly articleId: string };
      const [article, link] = await Promise.all([
        storage.records.get(articleRecord, articleId),
        storage.records.get(publicLinkRecord, articleId),
      ]);
      // An article in the trash may be restored, so check again later. A restored article stays unpublished but keeps its slug.
      if (article?.value.deletedAtMs !== undefined) return { kind: "retry", atMs: storage.now() + dayMs };
      if (article !== undefined || link === undefined) return { kind: "done" };
      const removed = await actors.remove(kind, articleId, link);
      return removed ? { kind: "done" } : { kind: "retry", atMs: storage.now() };
    },
  };
}
