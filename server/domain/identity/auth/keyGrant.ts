/**
 * This module checks which permissions a caller may give to a new API key.
 *
 * A key never creates a key with more permissions than its own in scopes, workspaces or lifetime. An absent limit is
 * the widest value. No key can create a key without scopes or with `keys:manage`: both need the session of a person.
 */
import { AppError } from "../../../../api/schema/error.ts";
import { missingScopes, type Scope } from "../../../../api/scopes.ts";
import type { Principal } from "../../call/call.ts";

export interface KeyGrant {
  readonly scopes?: readonly Scope[] | undefined;
  readonly workspaceIds?: readonly string[] | undefined;
  readonly expiresAtMs?: number | undefined;
}

function escalation(field: "scopes" | "workspaceIds" | "expiresAt", message: string, missing?: readonly Scope[]): AppError {
  const errors = [{ pointer: `/${field}`, code: "scope_escalation", message }];
  return new AppError("scope_escalation", message, missing === undefined ? { errors } : { errors, missingScopes: [...missing] });
}

/** Throws `interactive_session_required` or `scope_escalation`. */
export function requireGrantable(principal: Principal, grant: KeyGrant): void {
  if (principal.kind === "session") return;
  if (grant.scopes === undefined) {
    throw new AppError("interactive_session_required", "An API key cannot make a key with full access; name its scopes, or sign in.");
  }
  if (grant.scopes.includes("keys:manage")) {
    throw new AppError("interactive_session_required", "An API key cannot grant keys:manage; sign in to make such a key.");
  }
  const missing = missingScopes(principal.scopes, grant.scopes);
  if (missing.length > 0) throw escalation("scopes", `The calling key lacks ${missing.join(", ")} and cannot grant it.`, missing);
  const reach = principal.workspaceIds;
  if (reach !== undefined && grant.workspaceIds === undefined) {
    throw escalation("workspaceIds", "The calling key is limited to some workspaces; name those the new key may reach.");
  }
  if (reach !== undefined && grant.workspaceIds?.every((id) => reach.includes(id)) === false) {
    throw escalation("workspaceIds", "The calling key does not reach every one of these workspaces.");
  }
  if (principal.expiresAtMs !== undefined && (grant.expiresAtMs === undefined || grant.expiresAtMs > principal.expiresAtMs)) {
    const latest = new Date(principal.expiresAtMs).toISOString();
    throw escalation("expiresAt", `The calling key expires; the new key must expire at ${latest} at the latest.`);
  }
}
