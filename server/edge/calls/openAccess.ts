/**
 * OpenAccess decides whether a principal may open a resource that stays open: a collaboration socket or an event stream.
 *
 * It checks rate, scope and visibility, in the same order as the path of a call (wrapper.ts). The credential is verified
 * before, because each kind of connection presents it differently. This module must not know the connection.
 */
import { notFound } from "../../../api/schema/error.ts";
import type { Scope } from "../../../api/scopes.ts";
import type { Principal } from "../../domain/call/call.ts";
import type { AccessResolver } from "../../domain/call/ports.ts";
import type { LeasedResource, ProvenAccess } from "../../domain/identity/access/accessLease.ts";
import { checkKeyScopes, toMissingScopes } from "./callChecks.ts";
import { toCredentialId } from "./credentialId.ts";
import type { RateLimits } from "./rateLimits.ts";

export interface OpenAccessOptions {
  readonly access: AccessResolver;
  readonly rateLimits: RateLimits;
}

export interface OpenAccess {
  readonly proven: ProvenAccess;
  /** Value of the `ratelimit-policy` header for the credential. Empty if the limit is off. */
  readonly ratePolicy: string;
}

/** True if the principal has the scope. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  return toMissingScopes(principal, [scope]).length === 0;
}

/** Throws the `AppError` of the refusal: `rate_limited`, `insufficient_scope` or `not_found`. `deleted`: an article in the trash is found too. */
export async function proveAccess(
  { access, rateLimits }: OpenAccessOptions,
  principal: Principal,
  { kind, id }: LeasedResource,
  scopes: readonly Scope[],
  options: { readonly deleted: boolean } = { deleted: false },
): Promise<OpenAccess> {
  const { policy, refusal } = await rateLimits.draw(["rate.connects"], toCredentialId(principal));
  if (refusal !== undefined) throw refusal;
  checkKeyScopes(principal, scopes);
  const found = await access.resolve(principal, kind, id, options);
  if (found === undefined) throw notFound();
  return { proven: { principal, access: found }, ratePolicy: policy };
}
