/**
 * ArticleImports brings a text from outside into an article: a new one, or the live document of an existing one.
 *
 * A new article, its log and its first commit are changes of the caller's unit, so they exist all together or not at all.
 * The text of an existing article is changed in its room first, because others may be typing there; the caller then
 * commits it. This module knows neither where the text comes from nor who may import it.
 */
import type * as Y from "yjs";
import { notFound } from "../../../api/schema/error.ts";
import { buildDocument } from "../../../realtime/document/buildDocument.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { present } from "../call/present.ts";
import { withNextCounter, workspaceRecord } from "../identity/workspaces/records.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { toNewArticle } from "./articleWriter.ts";
import { piecesOfDocument } from "./attribute.ts";
import type { Attributions } from "./attributions.ts";
import type { CommitComposition } from "./commitComposition.ts";
import { emptyTexts } from "./fileTexts.ts";
import type { History } from "./history.ts";
import { encodeBatch } from "./logEntry.ts";
import { type ArticleImports, type DocumentWriting, JoinedCommit } from "./port.ts";
import { documentLog } from "./records.ts";
import { recordClientId, toTextUpdate } from "./textUpdate.ts";

export interface ArticleImportsOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly rooms: Pick<Rooms, "read" | "edit">;
  readonly writing: Pick<DocumentWriting, "carry">;
  readonly history: Pick<History, "textsAt">;
  readonly attributions: Pick<Attributions, "makeFirst">;
  readonly composition: CommitComposition;
  readonly texts: Pick<ArticleTexts, "countWords">;
  readonly nodeId: string;
}

const file = "content.md";

export function createArticleImports(options: ArticleImportsOptions): ArticleImports {
  const { storage, rooms, writing, history, attributions, composition, texts: work, nodeId } = options;

  return {
    async create(unit, { articleId, workspaceId, title, folderId, content, author, clientId, ...order }) {
      const workspace = await storage.records.get(workspaceRecord, workspaceId);
      if (workspace === undefined) throw notFound();
      const { number, write } = await withNextCounter(storage, workspace.value, "article");
      const nowMs = storage.now();
      const made = toNewArticle({ articleId, workspaceId, number, title, by: author.username, nowMs });
      const texts = { ...emptyTexts, [file]: content };
      const update = toTextUpdate(texts, clientId);
      const document = buildDocument(undefined, [update]);
      const pieces = piecesOfDocument(document);
      document.destroy();
      const entries = content === "" ? [] : [encodeBatch(nowMs, nodeId, [{ author, update }])];
      const [files, attributed, wordCount] = await Promise.all([
        composition.store(workspaceId, articleId, texts, undefined),
        attributions.makeFirst(workspaceId, articleId, { author, update, pieces }, order.commitId),
        work.countWords(workspaceId, content),
      ]);
      unit.record(write);
      if (entries.length > 0) unit.log({ op: "append", log: documentLog(articleId), entries });
      await composition.add(
        unit,
        { ...order, articleId, kind: "import", committer: author.username },
        {
          article: { ...made, ...present({ folderId }) },
          replacing: null,
          last: undefined,
          revision: entries.length,
          files,
          attributed,
          wordCount,
        },
      );
    },

    async replace({ articleId, workspaceId, content, author, clientId, baseRevision }, guard) {
      const live = await rooms.read(articleId, (document) => document.getText(file).toString());
      const base = (await history.textsAt(articleId, baseRevision))?.[file] ?? live;
      const change = await writing.carry(workspaceId, { base, content, live });
      const guarded = new JoinedCommit((append) => storage.commit({ ...append, require: [...(append.require ?? []), guard] }));
      const write = (document: Y.Doc): void => {
        const before = document.store.clients.get(clientId)?.length ?? 0;
        change?.(document.getText(file));
        // A change that only deletes text leaves no trace of its client id, by which a repeat finds it.
        if (change !== undefined && (document.store.clients.get(clientId)?.length ?? 0) === before) recordClientId(document.getText(file));
      };
      const { revision } = await rooms.edit(articleId, author, clientId, write, false, guarded);
      return { revision };
    },
  };
}
