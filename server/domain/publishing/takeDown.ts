/**
 * TakeDown handles the public link of a deleted article. The commit that deletes the article unpublishes the link. Once
 * the article is deleted for good, a due row removes the link, which frees its slug, and the history of the page.
 */
import { type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleEvents, ArticleListeners } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import { accessFactWrite } from "../identity/access/accessFacts.ts";
import { publicationLog } from "./publicationLog.ts";
import { publicLinkKind } from "./publicLinkKind.ts";
import { modeOf } from "./publicLinkView.ts";
import { publicLinkRecord } from "./records.ts";

export const collectRows = defineDueKind<{ readonly articleId: string }>("publicLink.collect");
const dayMs = 24 * 60 * 60 * 1000;

export interface TakeDownOptions {
  readonly storage: Pick<Storage, "now">;
  readonly articleEvents: ArticleEvents;
}

/** Unpublishes the link in the commit that deletes the article. Does not write the article record: that commit writes it. */
export function createTakeDown({ storage, articleEvents }: TakeDownOptions): ArticleListeners["articleDeleted"] {
  return async (unit, { articleId, workspaceId, topicId, by }) => {
    const link = await unit.read(publicLinkKind, articleId);
    if (link === undefined) return;
    const row = collectRows.row({ id: `${collectRows.name}/${articleId}`, dueAtMs: storage.now() + dayMs, payload: { articleId } });
    unit.due({ op: "schedule", row });
    if (modeOf(link.value) === undefined) return;
    await unit.send(publicLinkKind, articleId, { type: "link.unpublish" });
    articleEvents.add(unit, { articleId, workspaceId, topicId, event: "public_link.changed", actor: by, data: {} });
    unit.log(accessFactWrite({ kind: "link.unpublished", slug: link.value.context.slug }));
  };
}

export interface CollectLinksOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "remove">;
}

/** Creates the due row worker that removes the link of an article that no longer exists. */
export function createCollectLinks({ storage, actors }: CollectLinksOptions): DueWorker {
  return collectRows.worker(async ({ partition, payload: { articleId } }) => {
    const [article, link] = await Promise.all([
      storage.records.get(articleRecord, articleId),
      storage.records.get(publicLinkRecord, articleId),
    ]);
    // An article in the trash may be restored, so check again later. A restored article stays unpublished but keeps its slug.
    if (article?.value.deletedAtMs !== undefined) return { kind: "retry", atMs: storage.now() + dayMs };
    if (article !== undefined || link === undefined) return { kind: "done" };
    // The link is removed last: while it exists, the row finds it and drops the log, also after a crash between the two.
    await storage.commit({ partition, logs: [{ op: "drop", log: publicationLog(articleId) }] });
    const removed = await actors.remove(publicLinkKind, articleId, link);
    return removed ? { kind: "done" } : { kind: "retry", atMs: storage.now() };
  });
}
