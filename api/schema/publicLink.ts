/**
 * Defines the schemas of public links of articles (specification: Public link of a document; api decisions:
 * publishing).
 */
import { z } from "zod";
import { PublicLinkMode, PublicLinkState } from "./article.ts";
import { flag, int, text, unixSeconds, username } from "./common.ts";
import { idText } from "./id.ts";

export const LiveSyncStatus = z.enum(["synced", "pending", "syncing", "retrying", "failed"]).meta({
  id: "LiveSyncStatus",
  description:
    "`synced`: the page shows the newest text. `pending`: an edit waits for the next attempt. `syncing`: an attempt is in progress. `retrying`: the last attempt failed and another follows. `failed`: all attempts failed.",
});
export type LiveSyncStatus = z.infer<typeof LiveSyncStatus>;

export const LiveSync = z
  .strictObject({
    status: LiveSyncStatus,
    sourceRevision: int("Newest revision of the article, which the page should show.", 42),
    publishedRevision: int("Revision that the page shows.", 41),
    attempts: int("Failed attempts since the last success.", 0),
    lastSyncedAt: unixSeconds("When the page was last synchronized.").optional(),
    nextRetryAt: unixSeconds("When the next attempt is due.").optional(),
    lastError: text("Why the last attempt failed.", "The store is not reachable.").optional(),
  })
  .meta({ id: "LiveSync", description: "State of the synchronization of a Live page." });

export const PublishGate = z
  .enum(["off", "warn", "block"])
  .describe("Checks before publication: `off` makes none, `warn` reports findings, `block` refuses a text with errors.");
export type PublishGate = z.infer<typeof PublishGate>;

export const GateFinding = z
  .strictObject({
    severity: z.enum(["error", "warning"]).describe("An `error` is refused by the gate `block`; a `warning` is not."),
    code: text("What was found, as a code.", "placeholder"),
    message: text("What was found, as text.", "“TODO” marks text that is not written yet."),
    line: int("Line of `content.md`, from 1. Absent if the finding is about the whole text.", 5).optional(),
  })
  .meta({ id: "GateFinding", description: "Something in a text that the publish gate found." });
export type GateFinding = z.infer<typeof GateFinding>;

export const GateReport = z
  .strictObject({
    revision: int("Revision of the article whose text was checked: the newest one.", 42),
    findings: z.array(GateFinding).describe("Findings in `content.md`, at most 200."),
  })
  .meta({ id: "GateReport", description: "What the checks of the publish gate find in the newest text." });
export type GateReport = z.infer<typeof GateReport>;

/** `publishedRevision` is the article revision that the page shows. An expired page showed it last. */
export const PublicLink = z
  .strictObject({
    articleId: idText("art", "Article that is public."),
    mode: PublicLinkMode,
    url: text("Address of the public page.", "http://127.0.0.1:8787/p/how-a-draft-survives"),
    slug: text("Last part of the page's address.", "how-a-draft-survives"),
    state: PublicLinkState,
    publishedRevision: int("Revision of the article that the page shows.", 42),
    publishedAt: unixSeconds("When the article was last made public."),
    publishedBy: username("Username of the account that published the article."),
    updatedAt: unixSeconds("When the link or the text of the page last changed."),
    indexable: flag("Whether search engines may list the page.", false),
    gate: PublishGate,
    expiresAt: unixSeconds("When the page stops being public. Absent if it stays public.").optional(),
    snapshotAt: unixSeconds("When the text of a Snapshot was frozen.").optional(),
    liveSync: LiveSync.optional(),
  })
  .meta({ id: "PublicLink", description: "The public page of an article." });
export type PublicLink = z.infer<typeof PublicLink>;

/** A link in the list of a workspace, which must be readable without a request for each article. */
export const ListedPublicLink = z
  .strictObject({
    ...PublicLink.shape,
    title: text(
      "Title of the page: of a Live page that of the article, of a Snapshot that of the article when it was frozen.",
      "How a draft survives",
    ),
  })
  .meta({ id: "ListedPublicLink", description: "The public page of an article, with its title." });
export type ListedPublicLink = z.infer<typeof ListedPublicLink>;

/** The text of the period is that of `content.md` with this hash. */
export const PublicationPeriod = z
  .strictObject({
    from: unixSeconds("When the page began to show the text."),
    to: unixSeconds("When the page stopped showing the text in this mode. Absent while it still does.").optional(),
    mode: PublicLinkMode,
    revision: int("First revision of the article that the page showed with this text.", 42),
    commitId: idText("cmt", "Commit at this revision. Absent if there is none.").optional(),
    contentHash: text("SHA-256 of the text, in hex.", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
  })
  .meta({ id: "PublicationPeriod", description: "A time in which the public page showed one text." });
export type PublicationPeriod = z.infer<typeof PublicationPeriod>;

export const PublicSlug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,118}[a-z0-9])?$/, "must be 1 to 120 of a-z, 0-9 and '-', starting and ending with a letter or digit")
  .meta({
    description:
      "Last part of the page's address: 1 to 120 of a-z, 0-9 and `-`. Created from the title by default. An earlier slug redirects.",
    example: "how-a-draft-survives",
  });

/** Unix seconds of the last moment that a `Date` can hold (ECMAScript, 21.4.1.1). */
const maxUnixSeconds = 8_640_000_000_000;

/** `mode` defaults to Live on a new link and does not change on an existing link. */
export const PublicLinkRequest = z
  .strictObject({
    mode: PublicLinkMode.describe("Live by default on a new link; an existing link keeps its mode.").optional(),
    slug: PublicSlug.optional(),
    indexable: flag("Whether search engines may list the page; false by default on a new link.", true).optional(),
    expiresAt: z
      .number()
      .max(maxUnixSeconds)
      .meta({
        description:
          "When the page stops being public: Unix seconds with fractions, to the millisecond, in the future. `null` removes it. A new link has none by default.",
        example: 4_102_444_800,
      })
      .nullable()
      .optional(),
    gate: PublishGate.describe("Checks before publication; `off` by default on a new link.").optional(),
  })
  .meta({ id: "PublicLinkRequest", description: "Settings of the public page." });

/** The kept or committed revision to publish. Without it, the newest revision is used. */
export const SnapshotRequest = z
  .strictObject({
    revision: z
      .int()
      .min(1)
      .meta({
        description: "Revision to show; the newest by default. The revision must be committed, or at most 24 hours old.",
        example: 42,
      })
      .optional(),
  })
  .meta({ id: "SnapshotRequest", description: "The revision that the page will show." });
