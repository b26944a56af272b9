/**
 * SocketAdmission decides whether a credential may open an article. It checks credential, rate, scope and visibility,
 * in the same order as every other surface.
 *
 * It must not know the socket, because it runs before the handshake of an upgrade as well as after a first frame.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { missingScopes, type Scope } from "../../../api/scopes.ts";
import type { ConnectionIdentity } from "../../../realtime/ports.ts";
import type { Principal } from "../../domain/call/call.ts";
import type { AccessResolver, Authenticator } from "../../domain/call/ports.ts";
import type { ProvenAccess } from "../../domain/identity/access/accessLease.ts";
import { toCredentialId } from "../calls/credentialId.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import type { Tickets } from "./ports.ts";
import type { Presented } from "./presented.ts";

export interface SocketAdmissionOptions {
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
  readonly access: AccessResolver;
  readonly rateLimits: RateLimits;
  readonly limits: Limits;
}

/**
 * Checks a credential against one article. Calls `onPrincipal` as soon as the principal is known, so that the log of a
 * refusal can name the principal. Throws `AppError` for a refusal.
 */
export async function proveAccess(
  options: SocketAdmissionOptions,
  presented: Presented,
  articleId: string,
  onPrincipal: (principal: Principal) => void,
): Promise<ProvenAccess> {
  const { authenticator, tickets, rateLimits } = options;
  const principal =
    "ticket" in presented ? await tickets.verify(presented.ticket, `article:${articleId}`) : await authenticator.authenticate(presented);
  onPrincipal(principal);
  const { refusal } = await rateLimits.draw(["rate.connects"], toCredentialId(principal));
  if (refusal !== undefined) throw refusal;
  if (!holds(principal, "articles:read")) {
    throw new AppError("insufficient_scope", "This credential lacks the scope articles:read.");
  }
  const access = await options.access.resolve(principal, "article", articleId, { deleted: false });
  if (access === undefined) throw new AppError("not_found", "There is no such article, or it is not visible to this credential.");
  return { principal, access };
}

/** True if the principal has the scope. Only API keys are limited to scopes: a session has every scope. */
function holds(principal: Principal, scope: Scope): boolean {
  return missingScopes(principal.kind === "key" ? principal.scopes : undefined, [scope]).length === 0;
}

/** Returns the identity that a room needs: author, write permission and credential id. */
export function toIdentity({ principal, access }: ProvenAccess): ConnectionIdentity {
  return {
    author: { username: principal.username, kind: principal.kind === "key" ? "key" : "user" },
    ...(principal.displayName === undefined ? {} : { displayName: principal.displayName }),
    mayWrite: access.role !== "read" && holds(principal, "articles:write"),
    credentialId: toCredentialId(principal),
  };
}
