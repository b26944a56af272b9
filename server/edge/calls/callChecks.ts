/**
 * CallChecks checks the size, the scopes and the role of a call against its operation, and whether its resource is in the trash.
 *
 * Each check returns normally or throws the `AppError` of its refusal. The order of the checks is decided in
 * `wrapper.ts`.
 */
import type { OperationSpec } from "../../../api/contract/operation.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { missingScopes, type Scope } from "../../../api/scopes.ts";
import type { Access, Principal } from "../../domain/call/call.ts";
import { refuseTrashed } from "../../domain/call/refuseTrashed.ts";
import type { CallSource } from "./callSource.ts";
import { type PreparedOperation, rankOf } from "./preparedOperation.ts";

export function checkSize(operation: PreparedOperation, source: CallSource): void {
  if (!source.tooLarge) return;
  throw new AppError("payload_too_large", `The body of ${operation.key} may have at most ${source.maxBodyBytes} bytes.`);
}

/** Returns the scopes that the principal lacks. Only API keys are limited to scopes: a session has every scope. */
export function toMissingScopes(principal: Principal, scopes: readonly Scope[]): readonly Scope[] {
  return principal.kind === "key" ? missingScopes(principal.scopes, scopes) : [];
}

/** Throws `insufficient_scope` if the principal lacks one of the scopes. */
export function checkKeyScopes(principal: Principal, scopes: readonly Scope[]): void {
  const missing = toMissingScopes(principal, scopes);
  if (missing.length === 0) return;
  const detail = `This API key lacks the scope${missing.length === 1 ? "" : "s"} ${missing.join(", ")}.`;
  throw new AppError("insufficient_scope", detail, { requiredScopes: [...scopes], missingScopes: [...missing] });
}

export function checkScope(operation: PreparedOperation, principal: Principal): void {
  const { credential, scopes = [] } = operation.spec;
  if (principal.kind === "key") {
    if (credential !== "any") {
      throw new AppError(
        "interactive_session_required",
        "This operation needs a signed-in person's access token; an API key is not enough.",
      );
    }
    checkKeyScopes(principal, scopes);
  }
  if (credential === "operator" && !principal.operator) {
    throw new AppError("insufficient_permission", "This operation needs the account of an operator.");
  }
}

/**
 * Throws `not_found` for a resource in the trash that the operation does not show. For callers who may restore the resource,
 * the refusal says how. Their changes pass, because `checkChange` refuses those later.
 */
export function checkVisible({ method, resource }: OperationSpec, { role, trashedArticleId }: Access): void {
  if (trashedArticleId === undefined || resource?.deleted === true) return;
  if (rankOf(role) < rankOf("write")) throw notFound();
  if (resource?.deleted === undefined && method === "GET") throw refuseTrashed("not_found", trashedArticleId);
}

/** Throws `invalid_transition` if the resource is in the trash, where only some operations change it. */
export function checkChange({ resource }: OperationSpec, access: Access | undefined): void {
  const trashedArticleId = access?.trashedArticleId;
  if (trashedArticleId !== undefined && resource?.deleted === undefined) throw refuseTrashed("invalid_transition", trashedArticleId);
}

export function checkRole(operation: PreparedOperation, access: Access): void {
  if (rankOf(access.role) >= operation.roleRank) return;
  const role = operation.spec.role ?? "read";
  if (role === "write") throw new AppError("insufficient_permission", "This operation needs write permission in the workspace.");
  throw new AppError(
    "insufficient_role",
    `This operation needs the role ${role === "owner" ? "owner" : "admin or owner"} in the workspace.`,
  );
}
