/**
 * Defines the schemas of articles, their content, edits and commits (api decisions: content shapes). All schemas refuse
 * unknown fields.
 */
import { z } from "zod";
import { flag, int, Line, text, unixSeconds, username } from "./common.ts";
import { FolderId, idText, TemplateId, WorkspaceId } from "./id.ts";
import { VariableValues } from "./template.ts";

const sha256OfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Names of the three root texts in the Y.Doc of an article. */
export const articleFiles = ["content.md", "outline.md", "research.md"] as const;
export const ArticleFile = z
  .enum(articleFiles)
  .meta({ id: "ArticleFile", description: "A file of an article: the text, its outline, or its research." });
export type ArticleFile = z.infer<typeof ArticleFile>;

export const AuthorKind = z
  .enum(["user", "agent", "key"])
  .meta({ id: "AuthorKind", description: "How the text was written: by a person, by a run, or through an API key." });
export const Author = z
  .strictObject({ username: username("Username of the author, or of the account on whose behalf the text was written."), kind: AuthorKind })
  .meta({ id: "Author", description: "An author of a change." });
export type Author = z.infer<typeof Author>;

export const PublicLinkMode = z.enum(["live", "snapshot"]).meta({
  id: "PublicLinkMode",
  description: "`live`: the page follows every later edit. `snapshot`: the page keeps the text of one revision.",
});
export type PublicLinkMode = z.infer<typeof PublicLinkMode>;
export const PublicLinkState = z
  .enum(["live", "snapshot", "expired"])
  .meta({ id: "PublicLinkState", description: "State of a public page. An article that is not public has none." });
export type PublicLinkState = z.infer<typeof PublicLinkState>;

/**
 * `contentHash`, `files`, `wordCount` and `updatedAt` describe the last commit. `revision` is the revision of the live
 * text.
 */
export const Article = z
  .strictObject({
    articleId: idText("art", "Id of the article."),
    workspaceId: idText("ws", "Workspace that the article belongs to."),
    folderId: idText("fld", "Folder that the article is in; null at the top level.").nullable(),
    title: text("Title.", "How a draft survives a power cut"),
    slug: text("Short name, created from the title.", "how-a-draft-survives-a-power-cut"),
    revision: int("Revision of the newest durable edit of any file. It grows with each batch of edits.", 42),
    contentHash: text("SHA-256 of `content.md` as of the last commit, in hex.", sha256OfNothing),
    files: z.array(ArticleFile).describe("Files that contain text as of the last commit."),
    wordCount: int("Number of words in `content.md` as of the last commit.", 1180),
    createdBy: username("Username of the account that created the article."),
    createdAt: unixSeconds("When the article was created."),
    updatedBy: username("Username of the account that last committed the article, or created it."),
    updatedAt: unixSeconds("When the article was last committed, or created. A rename and a move do not change it."),
    topicId: idText("top", "Topic that the article is written for.").optional(),
    templateId: idText("tpl", "Template that the article was created from. The template may have been deleted since.").optional(),
    deletedAt: unixSeconds("When the article was moved to the trash. Absent if the article is not in the trash.").optional(),
    publicLink: z
      .strictObject({
        mode: PublicLinkMode,
        url: text("Address of the public page.", "http://127.0.0.1:8787/p/how-a-draft-survives"),
        state: PublicLinkState,
      })
      .describe("The public page. Absent if the article is not public.")
      .optional(),
  })
  .meta({ id: "Article", description: "An article without its text." });
export type Article = z.infer<typeof Article>;

const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,118}[a-z0-9])?$/, "must be 1 to 120 of a-z, 0-9 and '-', starting and ending with a letter or digit")
  .meta({
    description: "Short name: 1 to 120 of a-z, 0-9 and `-`. The address of a new public page starts with it.",
    example: "how-a-draft-survives",
  });

const Title = Line(500).meta({ description: "Title, 1 to 500 characters.", example: "How a draft survives a power cut" });

export const CreateArticleRequest = z
  .strictObject({
    workspaceId: WorkspaceId.describe("Workspace in which the article is created."),
    title: Title,
    folderId: FolderId.describe("Folder for the article; at the top level by default.").optional(),
    content: text(
      "Markdown for `content.md`, at most 2 MiB as UTF-8; empty by default. Not together with `templateId`.",
      "# How a draft survives\n",
    ).optional(),
    templateId: TemplateId.describe("Template of the workspace whose text the article starts with.").optional(),
    variables: VariableValues.describe("Values of the template's variables, by name. Only with `templateId`.").optional(),
  })
  .meta({ id: "CreateArticleRequest", description: "The article to create." });
export type CreateArticleRequest = z.infer<typeof CreateArticleRequest>;

export const UpdateArticleRequest = z
  .strictObject({
    title: Title.optional(),
    slug: Slug.optional(),
    folderId: FolderId.describe("Folder to move the article to; null moves it to the top level.").nullable().optional(),
  })
  .meta({ id: "UpdateArticleRequest", description: "The fields to change. Fields that are left out do not change." });

export const DuplicateArticleRequest = z
  .strictObject({
    title: Title.describe("Title of the copy; `Copy of` and the title of the article by default.").optional(),
    folderId: FolderId.describe("Folder for the copy, null for the top level; the folder of the article by default.").nullable().optional(),
    includeReviews: z
      .boolean()
      .describe("`true`: also copy the reviews of the article. A key then needs the scope `reviews:write`.")
      .optional(),
  })
  .meta({ id: "DuplicateArticleRequest", description: "What the copy is called, where it is, and whether it has the reviews." });

export const InstantiateTemplateRequest = z
  .strictObject({
    title: Title.describe("Title of the article, 1 to 500 characters. Placeholders in it are not replaced."),
    folderId: FolderId.describe("Folder for the article; at the top level by default.").optional(),
    variables: VariableValues.describe("Values of the template's variables, by name.").optional(),
  })
  .meta({ id: "InstantiateTemplateRequest", description: "The article to create from the template." });

export const ArticleSort = z.enum(["createdAt", "updatedAt", "title"]);
export type ArticleSort = z.infer<typeof ArticleSort>;

/** State of the public page as a filter of the list; `none`: the article is not public. */
export const PublishedState = z.enum([...PublicLinkState.options, "none"]);
export type PublishedState = z.infer<typeof PublishedState>;

export const ContentFormat = z.enum(["markdown", "html", "json", "text"]).meta({
  id: "ContentFormat",
  description:
    "`markdown`: the text itself. `html`: a whole HTML document, sanitised. `json`: its Markdown syntax tree (mdast) as JSON text. `text`: its words without markup.",
});
export type ContentFormat = z.infer<typeof ContentFormat>;

/** `content` is the text itself, or the form of it that `format` names. */
export const ArticleContent = z
  .strictObject({
    articleId: idText("art", "Id of the article."),
    file: ArticleFile,
    format: ContentFormat,
    content: text("The text in the format.", "# How a draft survives\n"),
    revision: int("Revision of this text; send it as `baseRevision` of an edit.", 42),
    contentHash: text("SHA-256 of the file's UTF-8 bytes, in hex.", sha256OfNothing),
  })
  .meta({ id: "ArticleContent", description: "A file of an article at one revision." });
export type ArticleContent = z.infer<typeof ArticleContent>;

/** One exact replacement. `occurrence` selects one of several matches; without it there must be exactly one match. */
export const TextEdit = z
  .strictObject({
    find: z.string().min(1).meta({ description: "Text to find, compared exactly.", example: "teh" }),
    replace: text("Replacement text; an empty text removes the match.", "the"),
    prefix: text("Text directly before the match. It does not change.", "in ").optional(),
    suffix: text("Text directly after the match. It does not change.", " end").optional(),
    occurrence: z
      .union([z.literal("first"), z.literal("all"), z.int().min(1)])
      .meta({
        description: "Which match to replace: `first`, `all`, or its number from 1. By default the text must occur only once.",
        example: "first",
      })
      .optional(),
  })
  .meta({ id: "TextEdit", description: "A replacement of one piece of text." });
export type TextEdit = z.infer<typeof TextEdit>;

const BaseRevision = z.int().min(0).meta({
  description:
    "Revision that the edit was made from. Newer changes are merged with the edit. Mode `replace` needs it; the other modes use the newest revision by default.",
  example: 42,
});
const NewText = text("Markdown, at most 2 MiB for the whole file.", "\nOne more paragraph.\n");
/** Options that every edit mode accepts. */
const editOptions = {
  file: ArticleFile.describe("File to edit; `content.md` by default.").optional(),
  baseRevision: BaseRevision.optional(),
  onConflict: z
    .enum(["merge", "fail"])
    .describe("What to do if the file has changed since `baseRevision`: `merge` (default), or `fail` with 409.")
    .optional(),
  dryRun: flag("True returns the result of the edit and changes nothing.", false).optional(),
  message: z
    .string()
    .max(1000)
    .meta({
      description: "If present, the document is committed after the edit with this message of at most 1,000 characters.",
      example: "Fix a typo",
    })
    .optional(),
} as const;

const WholeTextEdit = z.strictObject({
  mode: z.enum(["replace", "append", "prepend"]).describe("Whether `content` replaces the file, or is added after or before its text."),
  ...editOptions,
  content: NewText,
  edits: z.never("is allowed with mode patch only; with this mode send 'content'").optional(),
});
const PatchEdit = z.strictObject({
  mode: z.literal("patch").describe("Replace pieces of the file."),
  ...editOptions,
  edits: z.array(TextEdit).min(1).max(1000).describe("Replacements, applied in order; 1 to 1,000."),
  content: z.never("is allowed with the modes replace, append and prepend only; with mode patch send 'edits'").optional(),
});

/** `replace` overwrites a whole file and therefore requires `baseRevision`. All modes are merged into the live text. */
export const EditRequest = z.discriminatedUnion("mode", [WholeTextEdit, PatchEdit]).meta({
  id: "EditRequest",
  description: "An edit of one file. The modes `replace`, `append` and `prepend` take `content`, and mode `patch` takes `edits`.",
});
export type EditRequest = z.infer<typeof EditRequest>;

/** The same as `EditRequest` with mode `replace`. PUT has no `mode` field, because it always replaces. */
export const ReplaceContentRequest = z
  .strictObject({
    mode: z.literal("replace").describe("Can be left out: this operation always replaces.").optional(),
    ...editOptions,
    content: NewText.describe("Markdown of the whole file, at most 2 MiB."),
  })
  .meta({ id: "ReplaceContentRequest", description: "The new text of a file." });

const RejectedEdit = z
  .strictObject({
    index: int("Position of the replacement in `edits`, from 0.", 1),
    code: text("`anchor_not_found` or `anchor_ambiguous`.", "anchor_not_found"),
    detail: text("Why the replacement was not made, as text.", "The text to find is not in the file."),
  })
  .describe("A replacement that was not made.");

export const EditResponse = z
  .strictObject({
    articleId: idText("art", "Id of the article."),
    file: ArticleFile,
    revision: int("Revision of the article that contains this edit.", 43),
    contentHash: text("SHA-256 of the edited file, in hex.", sha256OfNothing),
    merged: flag("Whether newer changes by others were merged with the edit.", false),
    applied: int("Number of replacements that were made; 1 for modes other than `patch`.", 1),
    rejected: z.array(RejectedEdit).meta({ description: "Replacements that were not made. All others were made.", example: [] }),
    commitId: idText("cmt", "Commit that the edit made. Absent without a `message`, and if nothing was left to commit.").optional(),
  })
  .meta({ id: "EditResponse", description: "Result of an edit." });
export type EditResponse = z.infer<typeof EditResponse>;

export const CommitKind = z.enum(["commit", "checkpoint", "agent", "restore", "import"]).meta({
  id: "CommitKind",
  description:
    "`commit`: requested by a caller. `checkpoint`: made by the server after a pause in the edits. `agent`: made by a run. `restore`: returns to an earlier text. `import`: text from another source.",
});
export type CommitKind = z.infer<typeof CommitKind>;

const CommittedFile = z
  .strictObject({
    file: ArticleFile,
    contentHash: text("SHA-256 of the file in this commit, in hex.", sha256OfNothing),
    added: int("Lines added since the previous commit.", 12),
    removed: int("Lines removed since the previous commit.", 3),
  })
  .describe("A file with text.");

/** `added` and `removed` are the numbers of lines that changed since the previous commit. */
export const Commit = z
  .strictObject({
    commitId: idText("cmt", "Id of the commit."),
    articleId: idText("art", "Article of the commit."),
    revision: int("Revision of the article in this commit.", 42),
    parentRevision: int("Revision of the previous commit; null for the first commit.", 30).nullable(),
    kind: CommitKind,
    message: text("Message of the commit; can be empty.", "Rewrite the introduction"),
    name: text("Name of the commit, chosen by a person.", "Sent to the editor").optional(),
    authors: z.array(Author).describe("Authors of the changes since the previous commit."),
    files: z.array(CommittedFile).describe("Files in the commit."),
    createdAt: unixSeconds("When the commit was made."),
    runId: idText("run", "Run that made the commit.").optional(),
  })
  .meta({ id: "Commit", description: "A kept revision of an article." });
export type Commit = z.infer<typeof Commit>;

export const CreateCommitRequest = z
  .strictObject({
    message: z
      .string()
      .max(1000)
      .meta({ description: "Message, at most 1,000 characters; empty by default.", example: "Rewrite the introduction" })
      .optional(),
    name: Line(120).meta({ description: "Name of the commit, 1 to 120 characters.", example: "Sent to the editor" }).optional(),
    kind: z.enum(["commit", "checkpoint"]).describe("Kind of the commit; `commit` by default.").optional(),
  })
  .meta({ id: "CreateCommitRequest", description: "Description of the new commit." });

/** A revision in the history of the article, or `live` for its current text. */
export const RevisionOrLive = z
  .union([z.int().min(0), z.literal("live")])
  .meta({ description: "A revision of the article, or `live` for its newest text.", example: "live" });

export const DiffFormat = z.enum(["unified", "words", "json"]).meta({
  id: "DiffFormat",
  description: "`unified`: text in the unified diff format. `json`: whole lines. `words`: single words.",
});
export type DiffFormat = z.infer<typeof DiffFormat>;

const DiffChange = z
  .strictObject({
    op: z.enum(["equal", "insert", "delete"]).describe("Whether the text was added, removed or kept."),
    text: text("One line or several words.", "It is written to disk first.\n"),
  })
  .describe("A piece of text.");

/**
 * Lines that differ, with three lines of context around them. Line numbers start at 1. Format `unified` returns `text`
 * in the unified diff format, `json` returns `changes` of whole lines, and `words` returns `changes` of words.
 */
export const DiffHunk = z
  .strictObject({
    fromLine: int("First line in the older text, from 1.", 3),
    fromLines: int("Number of lines in the older text.", 7),
    toLine: int("First line in the newer text, from 1.", 3),
    toLines: int("Number of lines in the newer text.", 8),
    text: text(
      "The lines in the unified diff format. Present only with format `unified`.",
      " # Title\n+It is written to disk first.\n",
    ).optional(),
    changes: z.array(DiffChange).describe("The pieces in order. Present only with the formats `json` and `words`.").optional(),
  })
  .meta({ id: "DiffHunk", description: "Lines that differ, with up to three unchanged lines around them." });
export type DiffHunk = z.infer<typeof DiffHunk>;

/** `from` and `to` are the compared revisions. `stats` counts lines. */
export const ArticleDiff = z
  .strictObject({
    from: int("Older revision.", 30),
    to: int("Newer revision.", 42),
    hunks: z.array(DiffHunk).describe("Differences, from the start of the file to its end."),
    stats: z.strictObject({ added: int("Lines added.", 12), removed: int("Lines removed.", 3) }).describe("Number of lines that differ."),
  })
  .meta({ id: "ArticleDiff", description: "Differences between two revisions of a file." });
export type ArticleDiff = z.infer<typeof ArticleDiff>;
