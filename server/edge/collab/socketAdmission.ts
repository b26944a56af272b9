/**
 * SocketAdmission decides whether a credential may open an article. It checks the credential, then rate, scope and
 * visibility (openAccess.ts).
 *
 * It must not know the socket, because it runs before the handshake of an upgrade as well as after a first frame.
 */
import type { ConnectionIdentity } from "../../../realtime/ports.ts";
import type { Principal } from "../../domain/call/call.ts";
import type { Authenticator } from "../../domain/call/ports.ts";
import type { ProvenAccess } from "../../domain/identity/access/accessLease.ts";
import { toCredentialId } from "../calls/credentialId.ts";
import { hasScope, type OpenAccessOptions, proveAccess } from "../calls/openAccess.ts";
import type { Tickets } from "./ports.ts";
import type { Presented } from "./presented.ts";

export interface SocketAdmissionOptions extends OpenAccessOptions {
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
}

/**
 * Checks a credential against one article. Calls `onPrincipal` as soon as the principal is known, so that the log of a
 * refusal can name the principal. Throws `AppError` for a refusal.
 */
export async function admitSocket(
  options: SocketAdmissionOptions,
  presented: Presented,
  articleId: string,
  onPrincipal: (principal: Principal) => void,
): Promise<ProvenAccess> {
  const { authenticator, tickets } = options;
  const principal =
    "ticket" in presented ? await tickets.verify(presented.ticket, `article:${articleId}`) : await authenticator.authenticate(presented);
  onPrincipal(principal);
  return proveAccess(options, principal, { kind: "article", id: articleId }, ["articles:read"]);
}

/** Returns the identity that a room needs: author, write permission and credential id. */
export function toIdentity({ principal, access }: ProvenAccess): ConnectionIdentity {
  return {
    author: { username: principal.username, kind: principal.kind === "key" ? "key" : "user" },
    ...(principal.displayName === undefined ? {} : { displayName: principal.displayName }),
    mayWrite: access.role !== "read" && hasScope(principal, "articles:write"),
    credentialId: toCredentialId(principal),
  };
}
