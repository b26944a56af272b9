/**
 * This module reads the principal of a call and its access, for operations whose contract guarantees them, and checks
 * additional scopes.
 */
import { AppError } from "../../../api/schema/error.ts";
import { missingScopes, type Scope } from "../../../api/scopes.ts";
import type { Access, Call, Principal } from "./call.ts";

export type SessionPrincipal = Extract<Principal, { kind: "session" }>;
export type KeyPrincipal = Extract<Principal, { kind: "key" }>;

export function principalOf(call: Pick<Call, "principal">): Principal {
  if (call.principal === undefined) throw new Error("an operation that needs a credential was called without a principal");
  return call.principal;
}

export function sessionOf(call: Pick<Call, "principal">): SessionPrincipal {
  const principal = principalOf(call);
  if (principal.kind !== "session") throw new Error("an operation that needs a session was called with a key");
  return principal;
}

export function accessOf({ access }: Pick<Call, "access">): Access {
  if (access === undefined) throw new Error("an operation on a resource was called without access to its workspace");
  return access;
}

/** Checks scopes that only some requests of an operation need. The contract lists the scopes that all requests need. */
export function requireScopes(call: Pick<Call, "principal">, scopes: readonly Scope[]): void {
  const principal = principalOf(call);
  const missing = principal.kind === "key" ? missingScopes(principal.scopes, scopes) : [];
  if (missing.length === 0) return;
  const detail = `This API key lacks the scope${missing.length === 1 ? "" : "s"} ${missing.join(", ")}, which this request needs.`;
  throw new AppError("insufficient_scope", detail, { requiredScopes: [...scopes], missingScopes: [...missing] });
}

/** Converts a principal to its form in the audit log. */
export function toActor(principal: Principal): object {
  return principal.kind === "key"
    ? { username: principal.username, keyId: principal.keyId }
    : { username: principal.username, sessionId: principal.sessionId };
}
