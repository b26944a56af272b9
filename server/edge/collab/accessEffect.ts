/** AccessEffect decides what an access fact does to one open socket (RT33). */
import type { AccessFact } from "../../domain/identity/access/accessFacts.ts";
import type { Proven } from "./socketAdmission.ts";

const codes = { unauthenticated: 4401, deleted: 4409, revoked: 4410 };

/**
 * Returns the close code and reason if the socket must be closed, `"review"` if its access must be resolved again, and
 * undefined if the fact does not affect this socket.
 */
export function effectOf(
  fact: AccessFact,
  { principal, access }: Proven,
  articleId: string,
): { readonly code: number; readonly reason: string } | "review" | undefined {
  switch (fact.kind) {
    case "key.revoked":
      if (principal.kind === "key" && principal.keyId === fact.keyId) return { code: codes.revoked, reason: "the key was revoked" };
      break;
    case "session.ended":
      if (principal.kind === "session" && principal.sessionId === fact.sessionId) {
        return { code: codes.unauthenticated, reason: "the session has ended" };
      }
      break;
    case "account.disabled":
      if (principal.accountId === fact.accountId) return { code: codes.unauthenticated, reason: "the account is disabled" };
      break;
    case "account.renamed":
      if (principal.accountId === fact.accountId) return "review";
      break;
    case "membership.changed":
      if (principal.accountId === fact.accountId && access.workspaceId === fact.workspaceId) return "review";
      break;
    case "article.deleted":
      if (articleId === fact.articleId) return { code: codes.deleted, reason: "the article was deleted" };
      break;
    case "link.unpublished":
      break;
  }
  return undefined;
}
