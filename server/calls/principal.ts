/** The principal of a call, for operations whose contract promises one. */
import type { Call, Principal } from "./call.ts";

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

/** How a principal appears in the audit log. */
export function toActor(principal: Principal): object {
  return principal.kind === "key"
    ? { username: principal.username, keyId: principal.keyId }
    : { username: principal.username, sessionId: principal.sessionId };
}
