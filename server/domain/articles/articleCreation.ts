/**
 * Creates articles: with a given text, from a template, or as a copy of another article.
 *
 * All of them are new documents with one first batch, whose author is the caller and whose client id is fresh. One storage
 * commit creates the article, its log, its number and its armed checkpoint.
 */
import * as Y from "yjs";
import { type ArticleFile, articleFiles } from "../../../api/schema/article.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { requireAccepted, requireFits } from "../call/acceptedText.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import { present } from "../call/present.ts";
import { accessOf, requireScopes } from "../call/principal.ts";
import { refuseField } from "../call/refuseField.ts";
import { withNextCounter, workspaceRecord } from "../identity/workspaces/records.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { toNewArticle } from "./articleWriter.ts";
import { checkpointRow } from "./checkpointRows.ts";
import type { DocumentReader } from "./documentReader.ts";
import { emptyTexts, toContentHash } from "./fileTexts.ts";
import { encodeBatch } from "./logEntry.ts";
import type { ArticleFolders, ArticleReply, Documents, DuplicateArticle, FileTexts, FillTemplate, NewCopy } from "./port.ts";
import { type ArticleRecord, articleRecord, documentLog } from "./records.ts";
import { toClientId, toTextUpdate } from "./textUpdate.ts";

export interface CreateArticle {
  readonly workspaceId: string;
  readonly title: string;
  readonly folderId?: string | undefined;
  readonly content?: string | undefined;
  readonly templateId?: string | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

export interface ArticleCreation {
  /** Throws `validation_failed` for a folder or template that the workspace does not have. */
  create(request: CreateArticle, call: Call): Promise<ArticleReply>;
  readonly duplicate: DuplicateArticle;
}

export interface ArticleCreationOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly reader: Pick<DocumentReader, "tail">;
  readonly documents: Pick<Documents, "read">;
  readonly texts: Pick<ArticleTexts, "countWords">;
  readonly folders: ArticleFolders;
  readonly fillTemplate: FillTemplate;
  readonly nodeId: string;
  readonly checkpointQuietMs: number;
}

interface NewArticle {
  readonly workspaceId: string;
  readonly title: string;
  readonly texts: FileTexts;
  readonly templateId?: string | undefined;
  /** Returns the folder of the new article, and adds the conditions of the folder to the unit. */
  readonly toFolder: (unit: UnitOfWork) => Promise<string | undefined>;
  /** Adds the records of other domains that are created together with the article. */
  readonly also?: ((unit: UnitOfWork, copy: NewCopy) => Promise<void>) | undefined;
}

/** Length of a title in the API. */
const maxTitle = 500;

/** A long title is cut, but never between the two halves of a surrogate pair. */
function toCopyTitle(title: string): string {
  return `Copy of ${title}`
    .slice(0, maxTitle)
    .replace(/\p{Surrogate}$/u, "")
    .trimEnd();
}

export function createArticleCreation(options: ArticleCreationOptions): ArticleCreation {
  const { storage, actors, reader, documents, texts: work, folders, fillTemplate, nodeId, checkpointQuietMs } = options;

  /** The text of the request itself, or of its template with the values filled in. */
  async function toContent({ workspaceId, content, templateId, variables }: CreateArticle, call: Call): Promise<string> {
    const maxBytes = call.limits["article.file"];
    if (templateId === undefined) {
      if (variables !== undefined) throw refuseField("variables", "is allowed only together with templateId");
      return content ?? "";
    }
    if (content !== undefined) throw refuseField("content", "is not allowed together with templateId");
    requireScopes(call, ["templates:read", "articles:write"]);
    const filled = await fillTemplate(workspaceId, templateId, variables ?? {}, maxBytes);
    if (filled === undefined) throw refuseField("templateId", "must be the id of a template of the workspace", "not_found");
    return filled;
  }

  async function store({ workspaceId, title, texts, templateId, toFolder, also }: NewArticle, call: Call): Promise<ArticleReply> {
    const { partition } = accessOf(call);
    const author = authorOf(call);
    const articleId = call.ids.next("art", partition);
    const clientId = toClientId(call.ids);
    const written: readonly ArticleFile[] = articleFiles.filter((file) => texts[file] !== "");
    const files = written.map((file) => ({ file, contentHash: toContentHash(texts[file]) }));
    const isEmpty = written.length === 0;
    const update = toTextUpdate(texts, clientId);
    const entries = isEmpty ? [] : [encodeBatch(call.nowMs, nodeId, [{ author, update }])];
    const wordCount = await work.countWords(workspaceId, texts["content.md"]);
    let hasMetConflict = false;
    return actors.commitUnit<ArticleReply>({ operation: "article.create", partition, committer: call }, async (unit) => {
      // A retry of a request that lost its connection after the commit finds the article that the first attempt made.
      const before = hasMetConflict ? await storage.records.get(articleRecord, articleId) : undefined;
      if (before !== undefined) return { article: before.value, revision: await reader.tail(articleId) };
      hasMetConflict = true;
      const workspace = await storage.records.get(workspaceRecord, workspaceId);
      if (workspace === undefined) throw notFound();
      const folderId = await toFolder(unit);
      const { number, write } = await withNextCounter(storage, workspace.value, "article");
      const made = toNewArticle({ articleId, workspaceId, number, title, by: author.username, nowMs: call.nowMs });
      const article: ArticleRecord = {
        ...made,
        ...{ files, wordCount },
        ...present({ folderId, templateId, mayHaveEdits: isEmpty ? undefined : (true as const) }),
      };
      unit.record({ op: "put", type: articleRecord, value: article, replacing: null });
      unit.record(write);
      if (!isEmpty) {
        unit.log({ op: "append", log: documentLog(articleId), entries });
        unit.due({ op: "arm", row: checkpointRow(articleId, call.nowMs, storage.now() + checkpointQuietMs) });
      }
      if (also !== undefined) {
        const document = new Y.Doc();
        Y.applyUpdate(document, update);
        await also(unit, { workspaceId, copyId: articleId, document, revision: entries.length });
      }
      return { article, revision: entries.length };
    });
  }

  return {
    async create(request, call) {
      const { workspaceId, title, folderId, templateId } = request;
      const content = await toContent(request, call);
      requireAccepted(content, "content");
      requireFits(content, call.limits["article.file"]);
      return store(
        {
          workspaceId,
          title,
          texts: { ...emptyTexts, "content.md": content },
          templateId,
          async toFolder(unit) {
            if (folderId !== undefined) await folders.requireOpen(unit, workspaceId, folderId);
            return folderId;
          },
        },
        call,
      );
    },

    async duplicate(articleId, { title, folderId }, call, also) {
      const source = await storage.records.get(articleRecord, articleId);
      if (source === undefined || source.value.deletedAtMs !== undefined) throw notFound();
      const { workspaceId } = source.value;
      const { texts } = await documents.read(articleId);
      return store(
        {
          workspaceId,
          title: title ?? toCopyTitle(source.value.title),
          texts,
          also,
          async toFolder(unit) {
            if (folderId === null) return undefined;
            if (folderId === undefined) return openFolderOf(folders, unit, source.value);
            await folders.requireOpen(unit, workspaceId, folderId);
            return folderId;
          },
        },
        call,
      );
    },
  };
}

/** Returns the article's folder if articles can be put into it, otherwise undefined: the top level. */
async function openFolderOf(
  folders: ArticleFolders,
  unit: UnitOfWork,
  { workspaceId, folderId }: ArticleRecord,
): Promise<string | undefined> {
  if (folderId === undefined) return undefined;
  try {
    await folders.requireOpen(unit, workspaceId, folderId);
    return folderId;
  } catch (reason) {
    if (reason instanceof AppError && reason.code === "validation_failed") return undefined;
    throw reason;
  }
}
