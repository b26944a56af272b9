/**
 * PublicLinkContext defines the context and the events of a public link.
 *
 * It must not decide which event is allowed in which state: the machine does that (`publicLink.ts`).
 */
import type { PublicLinkMode } from "../api/schema/article.ts";
import type { PublishGate } from "../api/schema/publicLink.ts";

/** Frozen content of a page. The Markdown is stored in the blob with this hash. */
export interface FrozenContent {
  /** Article revision. */
  readonly revision: number;
  /** SHA-256 (hex) of the Markdown, and of the blob. */
  readonly contentHash: string;
  readonly bytes: number;
  readonly title: string;
}

/** The text and mode of a page, as its history records them. */
export interface ShownText {
  readonly mode: PublicLinkMode;
  /** Article revision. */
  readonly revision: number;
  /** SHA-256 (hex) of the Markdown. */
  readonly contentHash: string;
}

/** Params of the fact `shown`. Null when the page shows the same text as before, so that no period of its history begins. */
export type ShownFact = ShownText | null;

/** Only the given members change. */
export interface LinkSettings {
  readonly slug?: string;
  readonly indexable?: boolean;
  readonly gate?: PublishGate;
  /** `undefined` as a value removes the time. */
  readonly expiresAtMs?: number | undefined;
}

export interface LiveSyncContext {
  /** The newest article revision that the link knows: published, or waiting for its synchronization. */
  readonly sourceRevision: number;
  /** Number of the synchronization that began last. */
  readonly round: number;
  readonly startedAtMs: number;
  /** The document was edited after the running synchronization began. */
  readonly stale: boolean;
  /** Failed attempts in the current series. */
  readonly attempts: number;
  readonly lastSyncedAtMs?: number;
  readonly nextRetryAtMs?: number;
  readonly lastError?: string;
}

export interface PublicLinkContext {
  readonly articleId: string;
  readonly workspaceId: string;
  /** Kept after unpublishing, because the address then answers that the page was taken down. */
  readonly slug: string;
  readonly indexable: boolean;
  /** Absent means `off`. */
  readonly gate?: PublishGate;
  /** Store time from which the page is not public. */
  readonly expiresAtMs?: number | undefined;
  readonly publishedAtMs: number;
  /** Username. */
  readonly publishedBy: string;
  readonly updatedAtMs: number;
  /**
   * Counts the changes of the link by requests, and its expiry, but no synchronization. It is the record part of the ETag.
   * Absent in links that were stored before this member existed, which counts as 0.
   */
  readonly metaRevision?: number;
  /** Absent while unpublished. */
  readonly content?: FrozenContent | undefined;
  /** Time at which the page got its text. Absent in links that were stored before this member existed. */
  readonly contentAtMs?: number | undefined;
  /** Present only in mode Snapshot. */
  readonly snapshotAtMs?: number | undefined;
  readonly sync: LiveSyncContext;
}

export interface PublicLinkInput {
  readonly nowMs: number;
  readonly articleId: string;
  readonly workspaceId: string;
  readonly mode: PublicLinkMode;
  readonly slug: string;
  readonly indexable: boolean;
  readonly gate?: PublishGate;
  readonly expiresAtMs?: number | undefined;
  readonly by: string;
  readonly content: FrozenContent;
}

interface Publication {
  readonly content: FrozenContent;
  readonly settings: LinkSettings;
  /** Username. */
  readonly by: string;
}

export type PublicLinkEvent =
  | ({ readonly type: "link.makeLive"; readonly nowMs: number } & Publication)
  | ({ readonly type: "link.makeSnapshot"; readonly nowMs: number } & Publication)
  | { readonly type: "link.change"; readonly settings: LinkSettings; readonly nowMs: number }
  | { readonly type: "link.refresh"; readonly content: FrozenContent; readonly nowMs: number }
  | { readonly type: "link.sync"; readonly nowMs: number }
  | { readonly type: "link.unpublish"; readonly nowMs: number }
  | { readonly type: "article.edited"; readonly revision: number; readonly nowMs: number }
  | { readonly type: "pause.over"; readonly nowMs: number }
  | { readonly type: "retry.due"; readonly nowMs: number }
  | { readonly type: "expiry.due"; readonly nowMs: number }
  | { readonly type: "sync.succeeded"; readonly round: number; readonly content: FrozenContent; readonly nowMs: number }
  /** `jitter` is a random number from 0 to 1. The sender of the event creates it. */
  | { readonly type: "sync.failed"; readonly round: number; readonly reason: string; readonly jitter: number; readonly nowMs: number };

export const publicLinkCommands = [
  "link.makeLive",
  "link.makeSnapshot",
  "link.change",
  "link.refresh",
  "link.sync",
  "link.unpublish",
] as const;
