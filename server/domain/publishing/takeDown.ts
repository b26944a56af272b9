/**
 * TakeDown handles the public link of a deleted article. The commit that deletes the article unpublishes the link. Once
 * the article is deleted for good, a due row removes the link, which frees its slug.
 */
import type { ActorRuntime, DueWorker } from "../../platform/actors/port.ts";
import type { DueWrite, Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import { accessFactWrite } from "../identity/access/accessFacts.ts";
import { publicLinkKind } from "./publicLinkKind.ts";
import { modeOf } from "./publicLinkView.ts";
import { publicLinkRecord } from "./records.ts";

export const collectRowKind = "publicLink.collect";
const dayMs = 24 * 60 * 60 * 1000;

export interface TakeDownOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "move">;
}

/** Returns the changes for the commit that deletes the article. They do not include the article record, which that commit writes. */
export function createTakeDown({ storage, actors }: TakeDownOptions): ArticleListeners["articleDeleted"] {
  return async ({ articleId }) => {
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
    const { batch, started } = actors.move(publicLinkKind, link, { type: "link.unpublish" });
    return {
      ...batch,
      due: [...(batch.due ?? []), collect],
      logs: [accessFactWrite({ kind: "link.unpublished", slug: link.value.context.slug })],
      started,
    };
  };
}

export interface CollectLinksOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "remove">;
}

/** Creates the due row worker that removes the link of an article that no longer exists. */
export function createCollectLinks({ storage, actors }: CollectLinksOptions): DueWorker {
  return async (row) => {
    const { articleId } = row.payload as { readonly articleId: string };
    const [article, link] = await Promise.all([
      storage.records.get(articleRecord, articleId),
      storage.records.get(publicLinkRecord, articleId),
    ]);
    // An article in the trash may be restored, so check again later. A restored article stays unpublished but keeps its slug.
    if (article?.value.deletedAtMs !== undefined) return { kind: "retry", atMs: storage.now() + dayMs };
    if (article !== undefined || link === undefined) return { kind: "done" };
    const removed = await actors.remove(publicLinkKind, articleId, link);
    return removed ? { kind: "done" } : { kind: "retry", atMs: storage.now() };
  };
}
