/** Articles, their content, edits and commits (api decisions: content shapes). All shapes are closed. */
import { z } from "zod";
import { Line, UnixSeconds } from "./common.ts";
import { WorkspaceId } from "./id.ts";

/** The three root texts of an article's Y.Doc. */
export const articleFiles = ["content.md", "outline.md", "research.md"] as const;
export const ArticleFile = z.enum(articleFiles).meta({ id: "ArticleFile" });
export type ArticleFile = z.infer<typeof ArticleFile>;

export const AuthorKind = z.enum(["user", "agent", "key"]).meta({ id: "AuthorKind" });
export const Author = z.strictObject({ username: z.string(), kind: AuthorKind }).meta({ id: "Author" });
export type Author = z.infer<typeof Author>;

export const PublicLinkMode = z.enum(["live", "snapshot"]).meta({ id: "PublicLinkMode" });
export type PublicLinkMode = z.infer<typeof PublicLinkMode>;
export const PublicLinkState = z.enum(["live", "snapshot", "expired"]).meta({ id: "PublicLinkState" });
export type PublicLinkState = z.infer<typeof PublicLinkState>;

/** `contentHash`, `files`, `wordCount` and `updatedAt` are those of the last commit; `revision` is live. */
export const Article = z
  .strictObject({
    articleId: z.string(),
    workspaceId: z.string(),
    folderId: z.string().nullable(),
    title: z.string(),
    slug: z.string(),
    revision: z.int(),
    contentHash: z.string(),
    files: z.array(ArticleFile),
    wordCount: z.int(),
    createdBy: z.string(),
    createdAt: UnixSeconds,
    updatedBy: z.string(),
    updatedAt: UnixSeconds,
    topicId: z.string().optional(),
    templateId: z.string().optional(),
    deletedAt: UnixSeconds.optional(),
    publicLink: z.strictObject({ mode: PublicLinkMode, url: z.string(), state: PublicLinkState }).optional(),
  })
  .meta({ id: "Article" });
export type Article = z.infer<typeof Article>;

const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,118}[a-z0-9])?$/, "must be 1 to 120 of a-z, 0-9 and '-', starting and ending with a letter or digit");

export const CreateArticleRequest = z
  .strictObject({ workspaceId: WorkspaceId, title: Line(500), content: z.string().optional() })
  .meta({ id: "CreateArticleRequest" });
export type CreateArticleRequest = z.infer<typeof CreateArticleRequest>;

export const UpdateArticleRequest = z
  .strictObject({ title: Line(500).optional(), slug: Slug.optional() })
  .meta({ id: "UpdateArticleRequest" });

export const ContentFormat = z.enum(["markdown", "json"]).meta({ id: "ContentFormat" });

/** `content` is the text itself; with format `json` it is the Markdown syntax tree (mdast) as JSON text. */
export const ArticleContent = z
  .strictObject({
    articleId: z.string(),
    file: ArticleFile,
    format: ContentFormat,
    content: z.string(),
    revision: z.int(),
    contentHash: z.string(),
  })
  .meta({ id: "ArticleContent" });
export type ArticleContent = z.infer<typeof ArticleContent>;

/** One exact replacement; `occurrence` chooses among several matches (default: the match must be the only one). */
export const TextEdit = z
  .strictObject({
    find: z.string().min(1),
    replace: z.string(),
    prefix: z.string().optional(),
    suffix: z.string().optional(),
    occurrence: z.union([z.literal("first"), z.literal("all"), z.int().min(1)]).optional(),
  })
  .meta({ id: "TextEdit" });
export type TextEdit = z.infer<typeof TextEdit>;

/** `replace` overwrites a whole file and therefore needs `baseRevision`; all modes merge into the live text. */
export const EditRequest = z
  .strictObject({
    mode: z.enum(["replace", "append", "prepend", "patch"]),
    file: ArticleFile.optional(),
    content: z.string().optional(),
    edits: z.array(TextEdit).min(1).max(1000).optional(),
    baseRevision: z.int().min(0).optional(),
    onConflict: z.enum(["merge", "fail"]).optional(),
    dryRun: z.boolean().optional(),
    message: z.string().max(1000).optional(),
  })
  .refine(
    (edit) =>
      edit.mode === "patch"
        ? edit.edits !== undefined && edit.content === undefined
        : edit.content !== undefined && edit.edits === undefined,
    {
      error: "must have 'edits' and no 'content' with mode patch, 'content' and no 'edits' with any other",
    },
  )
  .meta({ id: "EditRequest" });
export type EditRequest = z.infer<typeof EditRequest>;

/** The same as `EditRequest` with mode `replace`, which PUT need not say. */
export const ReplaceContentRequest = z
  .strictObject({
    mode: z.literal("replace").optional(),
    file: ArticleFile.optional(),
    content: z.string(),
    baseRevision: z.int().min(0).optional(),
    onConflict: z.enum(["merge", "fail"]).optional(),
    dryRun: z.boolean().optional(),
    message: z.string().max(1000).optional(),
  })
  .meta({ id: "ReplaceContentRequest" });

export const EditResponse = z
  .strictObject({
    articleId: z.string(),
    file: ArticleFile,
    revision: z.int(),
    contentHash: z.string(),
    merged: z.boolean(),
    applied: z.int(),
    rejected: z.array(z.strictObject({ index: z.int(), code: z.string(), detail: z.string() })),
    commitId: z.string().optional(),
  })
  .meta({ id: "EditResponse" });
export type EditResponse = z.infer<typeof EditResponse>;

export const CommitKind = z.enum(["commit", "checkpoint", "agent", "restore", "import"]).meta({ id: "CommitKind" });
export type CommitKind = z.infer<typeof CommitKind>;

/** `added` and `removed` count lines against the commit before. */
export const Commit = z
  .strictObject({
    commitId: z.string(),
    articleId: z.string(),
    revision: z.int(),
    parentRevision: z.int().nullable(),
    kind: CommitKind,
    message: z.string(),
    name: z.string().optional(),
    authors: z.array(Author),
    files: z.array(z.strictObject({ file: ArticleFile, contentHash: z.string(), added: z.int(), removed: z.int() })),
    createdAt: UnixSeconds,
    runId: z.string().optional(),
  })
  .meta({ id: "Commit" });
export type Commit = z.infer<typeof Commit>;

export const CreateCommitRequest = z
  .strictObject({ message: z.string().max(1000).optional(), name: Line(120).optional(), kind: z.enum(["commit", "checkpoint"]).optional() })
  .meta({ id: "CreateCommitRequest" });

/** A position of the article's history, or its live text. */
export const RevisionOrLive = z.union([z.int().min(0), z.literal("live")]);

export const DiffFormat = z.enum(["unified", "words", "json"]).meta({ id: "DiffFormat" });
export type DiffFormat = z.infer<typeof DiffFormat>;

/**
 * Lines that differ, with three of context around them; line numbers count from 1. Format `unified` gives them as
 * `text` in the unified format, `json` as `changes` of whole lines, `words` as `changes` of words.
 */
export const DiffHunk = z
  .strictObject({
    fromLine: z.int(),
    fromLines: z.int(),
    toLine: z.int(),
    toLines: z.int(),
    text: z.string().optional(),
    changes: z.array(z.strictObject({ op: z.enum(["equal", "insert", "delete"]), text: z.string() })).optional(),
  })
  .meta({ id: "DiffHunk" });
export type DiffHunk = z.infer<typeof DiffHunk>;

/** `from` and `to` are the revisions compared; `stats` counts lines. */
export const ArticleDiff = z
  .strictObject({
    from: z.int(),
    to: z.int(),
    hunks: z.array(DiffHunk),
    stats: z.strictObject({ added: z.int(), removed: z.int() }),
  })
  .meta({ id: "ArticleDiff" });
export type ArticleDiff = z.infer<typeof ArticleDiff>;
