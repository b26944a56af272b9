/** ArticleContents reads and compares the text of an article and applies Yjs updates to it. edits.ts implements text edits. */

import type { ArticleDiff, ArticleFile, DiffFormat, EditResponse } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import { encodeIntegrated } from "../../../realtime/document/encodeDocument.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import { requireTextMatch } from "../call/precondition.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import { textsOfDocument, toContentHash } from "./fileTexts.ts";
import type { History } from "./history.ts";
import type { Documents, FileTexts } from "./port.ts";

export interface TextReply {
  readonly articleId: string;
  readonly file: ArticleFile;
  readonly revision: number;
  readonly text: string;
  readonly contentHash: string;
}

export interface StateReply {
  readonly revision: number;
  /** The whole document as a Yjs update. */
  readonly state: Uint8Array;
  /** SHA-256 (hex) of the requested file, although `state` contains all files. */
  readonly contentHash: string;
}

export interface DiffRequest {
  readonly from: number | "live";
  readonly to: number | "live";
  readonly file?: ArticleFile | undefined;
  readonly format?: DiffFormat | undefined;
}

export interface ArticleContents {
  /** Reads the live text, or the text at a kept or committed revision. Throws `revision_gone` for any other revision. */
  readText(articleId: string, file: ArticleFile, revision: number | undefined): Promise<TextReply>;
  /** Reads the live state, or the state at a kept revision. Throws `revision_gone` for any other revision. */
  readState(articleId: string, file: ArticleFile, revision: number | undefined): Promise<StateReply>;
  diff(articleId: string, request: DiffRequest, call: Pick<Call, "access">): Promise<ArticleDiff>;
  readonly diffFrom: Documents["diffFrom"];
  /** Parses Markdown into its syntax tree (mdast), returned as JSON text. */
  toSyntaxTree(markdown: string, call: Pick<Call, "access">): Promise<string>;
  /** Applies a Yjs update under the same rules as a frame of the collaboration socket. */
  applyUpdate(articleId: string, update: Uint8Array, call: Call): Promise<EditResponse>;
}

export interface ContentsOptions {
  readonly rooms: Pick<Rooms, "read" | "applyUpdate">;
  readonly history: History;
  readonly texts: Pick<ArticleTexts, "diff" | "toSyntaxTree">;
}

const ownerOf = ({ access }: Pick<Call, "access">): string => access?.workspaceId ?? "";

export function createContents({ rooms, history, texts: work }: ContentsOptions): ArticleContents {
  async function readLive(articleId: string): Promise<{ readonly revision: number; readonly texts: FileTexts }> {
    const live = await rooms.read(articleId, (document, revision) => ({ revision, texts: textsOfDocument(document) }));
    history.remember(articleId, live.revision, live.texts);
    return live;
  }

  function gone(revision: number): AppError {
    return new AppError(
      "revision_gone",
      `Revision ${revision} is not available: it does not exist yet, or it was never committed and its text is no longer kept.`,
    );
  }

  async function readText(articleId: string, file: ArticleFile, revision: number | undefined): Promise<TextReply> {
    const live = revision === undefined ? await readLive(articleId) : undefined;
    const texts = live?.texts ?? (await history.textsAt(articleId, revision as number));
    if (texts === undefined) throw gone(revision as number);
    const text = texts[file];
    return { articleId, file, revision: live?.revision ?? (revision as number), text, contentHash: toContentHash(text) };
  }

  async function compare(
    older: Pick<TextReply, "revision" | "text">,
    newer: Pick<TextReply, "revision" | "text">,
    format: DiffFormat,
    owner: string,
  ): Promise<ArticleDiff> {
    return { from: older.revision, to: newer.revision, ...(await work.diff(owner, older.text, newer.text, format)) };
  }

  return {
    readText,

    async readState(articleId, file, revision) {
      if (revision === undefined) {
        return rooms.read(articleId, (document, at) => ({
          revision: at,
          state: encodeIntegrated(document),
          contentHash: toContentHash(document.getText(file).toString()),
        }));
      }
      const found = await history.stateAt(articleId, revision);
      if (found === undefined) throw gone(revision);
      return { revision, state: found.state, contentHash: toContentHash(found.texts[file]) };
    },

    async diff(articleId, { from, to, file = "content.md", format = "unified" }, call) {
      const at = (revision: number | "live") => readText(articleId, file, revision === "live" ? undefined : revision);
      const [older, newer] = [await at(from), await at(to)];
      return compare(older, newer, format, ownerOf(call));
    },

    diffFrom: async (articleId, { file, ...older }, format, owner) =>
      compare(older, await readText(articleId, file, undefined), format, owner),

    toSyntaxTree: (markdown, call) => work.toSyntaxTree(ownerOf(call), markdown),

    async applyUpdate(articleId, update, call) {
      const file = "content.md";
      // A check before the update is enough: a Yjs update never deletes text that its author has not seen.
      if (call.ifMatch !== undefined) requireTextMatch(call, (await readLive(articleId)).revision);
      await rooms.applyUpdate(articleId, authorOf(call), update);
      const { revision, texts } = await readLive(articleId);
      return { articleId, file, revision, contentHash: toContentHash(texts[file]), merged: false, applied: 1, rejected: [] };
    },
  };
}
