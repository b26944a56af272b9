/** Says what each close code of the collaboration socket means for a client (docs/collaboration.md). */

/** Why an article cannot be opened or written. */
export interface ArticleProblem {
  /** A code of the server, such as `key_revoked` or `content_too_large`; `unreachable` if there is no answer. */
  readonly code: string;
  /** What the server said, for people. */
  readonly detail: string;
}

/** What a person should do with text that is too large. */
export const tooLargeRemedy = "Copy the text, delete a part of it, and try again.";

/** `ticket`: a new ticket is needed. `ended`: access has ended. `content`: the document has something that is not stored. */
export type CloseReason = "ticket" | "ended" | "content" | "tooMany" | "lost";

const reasons: Readonly<Record<number, readonly [reason: CloseReason, code: string]>> = {
  1009: ["content", "payload_too_large"],
  4400: ["content", "content_not_accepted"],
  4401: ["ticket", "unauthenticated"],
  4403: ["ended", "insufficient_permission"],
  4404: ["ended", "not_found"],
  4408: ["ticket", "unauthenticated"],
  4409: ["ended", "deleted"],
  4410: ["ended", "key_revoked"],
  4413: ["content", "content_too_large"],
  4429: ["tooMany", "rate_limited"],
};

/** Any other code is a lost connection. */
export function readCloseCode(closeCode: number): { readonly reason: CloseReason; readonly code: string } {
  const [reason, code] = reasons[closeCode] ?? ["lost", "unreachable"];
  return { reason, code };
}
