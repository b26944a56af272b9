/**
 * Defines the events of an article's stream: those that its event log keeps, and signals, which are sent to the readers
 * of the moment and are not kept.
 *
 * Both have one envelope. Only a kept event has an `id`. Clients must ignore event types that they do not know.
 */
import { z } from "zod";
import { ArticleFile, Author, AuthorKind, CommitKind, PublicLinkMode, PublicLinkState } from "./article.ts";
import { flag, int, isoTime, text, unixSeconds, username } from "./common.ts";
import { exampleId, idText } from "./id.ts";

const mentions = z.array(username("Username of an account that the text mentions and that can read the article.")).describe("Mentions.");

/** The three events of commits have this data. Their names differ, so that a reader can select them. */
const commitData = z
  .strictObject({
    commitId: idText("cmt", "The commit."),
    kind: CommitKind,
    message: text("Message of the commit.", "First draft"),
    name: text("Name of the commit, if it has one.", "Sent to print").optional(),
    revision: int("Revision of the article that was committed.", 42),
    previousRevision: int("Revision of the commit before; null for the first one.", 30).nullable(),
    contentHash: text("SHA-256 of `content.md`, in hex.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    wordCount: int("Number of words in `content.md`.", 1180),
    files: z
      .array(z.strictObject({ file: ArticleFile, added: int("Lines added.", 3), removed: int("Lines removed.", 1) }))
      .describe("Files that the commit changed."),
    authors: z.array(Author).describe("Authors of the changes, the most recent one last; at most 100."),
    runId: idText("run", "Run that made the commit.").optional(),
    diffUrl: text(
      "Address of the difference from the commit before.",
      `http://127.0.0.1:8787/articles/${exampleId("art")}/diff?from=30&to=42`,
    ),
  })
  .meta({ description: "A commit of an article, as its event describes it." });

/** The `data` schema of each kept event, by event name. */
export const articleEventData = {
  "document.committed": commitData,
  "document.checkpointed": commitData,
  "document.restored": commitData,
  "document.deleted": z.strictObject({
    permanent: flag("False: the article is in the trash. True: it was deleted for good.", false),
  }),
  "public_link.changed": z.strictObject({
    publicLink: z
      .strictObject({
        mode: PublicLinkMode,
        url: text("Address of the public page.", "http://127.0.0.1:8787/p/how-a-draft-survives"),
        state: PublicLinkState,
      })
      .describe("The public page, as in the article. Absent if the article is not public any more.")
      .optional(),
    publishedRevision: int("Revision of the article that the page shows.", 42).optional(),
  }),
  "review.created": z.strictObject({
    reviewId: idText("rev", "The review."),
    kind: z.enum(["comment", "suggestion"]).describe("Kind of the review."),
    file: ArticleFile,
    author: Author,
    mentions,
  }),
  "review.replied": z.strictObject({
    reviewId: idText("rev", "The review."),
    replyId: idText("rpl", "The reply."),
    author: Author,
    mentions,
  }),
  "review.resolved": z.strictObject({
    reviewId: idText("rev", "The review."),
    status: z.enum(["resolved", "accepted", "rejected"]).describe("Status of the review after the change."),
  }),
} as const;

/** A connection to an article's document. A person with two tabs is two of them. */
export const PresentClient = z
  .strictObject({
    username: username("Username of the account, or of the account on whose behalf an agent writes."),
    kind: AuthorKind,
    mode: z.enum(["read", "write"]).describe("Whether the connection may change the text."),
    since: unixSeconds("When the connection joined."),
  })
  .meta({ id: "PresentClient", description: "A connection to the document of an article." });
export type PresentClient = z.infer<typeof PresentClient>;

/** The `data` schema of each signal, by event name. */
export const articleSignalData = {
  "document.live": z.strictObject({
    revision: int("Newest revision of the article.", 43),
    wordCount: int("Number of words in `content.md` at that revision.", 1184),
    typing: z.array(Author).describe("Authors whose changes were stored within the last three seconds, the most recent one last."),
  }),
  "presence.joined": z.strictObject({ client: PresentClient.describe("The connection that joined.") }),
  "presence.left": z.strictObject({ client: PresentClient.describe("The connection that left.") }),
} as const;

export type ArticleEventName = keyof typeof articleEventData;
export type ArticleSignalName = keyof typeof articleSignalData;
export type ArticleEventData = { readonly [Name in ArticleEventName]: z.infer<(typeof articleEventData)[Name]> };
export type ArticleSignalData = { readonly [Name in ArticleSignalName]: z.infer<(typeof articleSignalData)[Name]> };

const envelope = {
  createdAt: isoTime("When the event occurred."),
  workspaceId: idText("ws", "Workspace of the article."),
  articleId: idText("art", "The article."),
  topicId: idText("top", "Topic that the article is written for.").optional(),
  actor: username("Username of the account that caused the event, or on whose behalf an agent did."),
} as const;
const id = text("Position in the article's event log, a decimal number: the resume token.", "17");

type EnvelopeFields = z.infer<z.ZodObject<typeof envelope>>;
/** An event that the article's log keeps. */
export type KeptArticleEvent = {
  readonly [Name in ArticleEventName]: EnvelopeFields & {
    readonly id: string;
    readonly event: Name;
    readonly data: ArticleEventData[Name];
  };
}[ArticleEventName];
/** A signal: it is sent once, to the readers that are connected. */
export type ArticleSignal = {
  readonly [Name in ArticleSignalName]: EnvelopeFields & { readonly event: Name; readonly data: ArticleSignalData[Name] };
}[ArticleSignalName];
/** One event as it is sent on SSE and over tRPC. */
export type ArticleEvent = KeptArticleEvent | ArticleSignal;

const kept = Object.entries(articleEventData).map(([name, data]) =>
  z.strictObject({ id, ...envelope, event: z.literal(name).describe("What happened."), data: data.describe("Data of the event.") }),
);
const signals = Object.entries(articleSignalData).map(([name, data]) =>
  z.strictObject({ ...envelope, event: z.literal(name).describe("What happens."), data: data.describe("Data of the signal.") }),
);
const [first, ...others] = [...kept, ...signals];

export const ArticleEvent = z.discriminatedUnion("event", [first as (typeof kept)[0], ...(others as typeof kept)]).meta({
  description:
    "An event of an article's stream. Kept events have an `id`; `document.live`, `presence.joined` and `presence.left` have none and are not kept. Ignore events that you do not know.",
}) as unknown as z.ZodType<ArticleEvent>;

export const ArticlePresence = z
  .strictObject({ clients: z.array(PresentClient).describe("The connections, the oldest first.") })
  .meta({ id: "ArticlePresence", description: "The connections to the document of an article, on all nodes." });
export type ArticlePresence = z.infer<typeof ArticlePresence>;
