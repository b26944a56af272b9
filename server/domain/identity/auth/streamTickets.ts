/**
 * This module issues and verifies stream tickets for browsers, whose sockets and event streams cannot send headers.
 *
 * A ticket is a signed text that opens exactly one resource until it expires. The ticket names only the credential
 * behind it. That credential is read again at each use, so a ticket becomes invalid when its key is revoked or its
 * session ends.
 */
import type { StreamTicket } from "../../../../api/schema/account.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import { missingScopes, type Scope } from "../../../../api/scopes.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Call, Principal } from "../../call/call.ts";
import type { AccessResolver } from "../../call/ports.ts";
import { principalOf } from "../../call/principal.ts";
import type { CredentialReference, Credentials } from "./credentials.ts";
import { createSignedText } from "./signedText.ts";

const ticketPrefix = "tkt_";

/** `article:art_…`, `workspace:ws_…` or `run:run_…`. */
export type TicketResource = string;

export interface StreamTickets {
  /** Issues a ticket. Throws `insufficient_scope`, or `not_found` for a resource that the caller cannot see. */
  issue(call: Pick<Call, "principal" | "limits">, resource: TicketResource): Promise<StreamTicket>;
  /** Returns the principal behind a ticket for this resource. Throws a 401 error. */
  verify(ticket: string, resource: TicketResource): Promise<Principal>;
}

export interface StreamTicketsOptions {
  readonly storage: Pick<Storage, "now">;
  /** MAC keys. The first one signs, all of them verify. */
  readonly keys: readonly Uint8Array[];
  readonly credentials: Pick<Credentials, "of">;
  readonly access: AccessResolver;
}

/** Returns whether the text is a ticket. A first frame may contain a ticket, a key or a token. */
export function isStreamTicket(text: string): boolean {
  return text.startsWith(ticketPrefix);
}

function toReference(principal: Principal): CredentialReference {
  return principal.kind === "key" ? { kind: "key", keyId: principal.keyId } : { kind: "session", sessionId: principal.sessionId };
}

export function createStreamTickets({ storage, keys, credentials, access }: StreamTicketsOptions): StreamTickets {
  const signed = createSignedText(keys, "ticket");

  async function requireAccess(principal: Principal, resource: TicketResource): Promise<void> {
    const [kind, id = ""] = resource.split(":");
    const scope: Scope = kind === "article" ? "articles:read" : "workspaces:read";
    const missing = missingScopes(principal.kind === "key" ? principal.scopes : undefined, [scope]);
    if (missing.length > 0) {
      const facts = { requiredScopes: [scope], missingScopes: [...missing] };
      throw new AppError("insufficient_scope", `A ticket for ${kind} streams needs the scope ${scope}.`, facts);
    }
    if (kind !== "article" && kind !== "workspace" && kind !== "run") throw notFound();
    // An article in the trash still has a stream. Its socket is refused when the ticket is used.
    if ((await access.resolve(principal, kind, id, { deleted: kind === "article" })) === undefined) throw notFound();
  }

  return {
    async issue(call, resource) {
      const principal = principalOf(call);
      await requireAccess(principal, resource);
      const lastMs = storage.now() + call.limits["keep.ticket"];
      const expiresAtMs = principal.kind === "key" ? Math.min(lastMs, principal.expiresAtMs ?? lastMs) : lastMs;
      const reference = toReference(principal);
      const id = reference.kind === "key" ? reference.keyId : reference.sessionId;
      const ticket = ticketPrefix + signed.sign(JSON.stringify([resource, reference.kind, id, expiresAtMs]));
      return { ticket, expiresAt: new Date(expiresAtMs).toISOString() };
    },
    async verify(ticket, resource) {
      const payload = isStreamTicket(ticket) ? signed.open(ticket.slice(ticketPrefix.length)) : undefined;
      if (payload === undefined)
        throw new AppError("unauthenticated", "The ticket was not issued by this service. Get one at POST /auth/stream-ticket.");
      const [opens, kind, id, expiresAtMs] = JSON.parse(payload) as [string, "key" | "session", string, number];
      if (opens !== resource) throw new AppError("unauthenticated", `This ticket opens ${opens} and nothing else.`);
      if (expiresAtMs <= storage.now())
        throw new AppError("token_expired", "The ticket has expired. Get a new one at POST /auth/stream-ticket.");
      return credentials.of(kind === "key" ? { kind, keyId: id } : { kind, sessionId: id });
    },
  };
}
