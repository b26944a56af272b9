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
import type { Draw, RateLimits } from "./rateLimits.ts";

export interface OpenAccessOptions {
  readonly access: AccessResolver;
  /** Its headers describe `rate.connects`, the only limit that opening draws from. */
  readonly rateLimits: RateLimits;
}

export interface OpenRules {
  /** An article in the trash is found too. */
  readonly deleted?: boolean;
  /** Called with the draw before anything else is checked, so that an answer of any kind can show it. */
  readonly onDraw?: (draw: Draw) => void;
}

/** True if the principal has the scope. */
export function hasScope(principal: Principal, scope: Scope): boolean {
  return toMissingScopes(principal, [scope]).length === 0;
}

/** Throws the `AppError` of the refusal: `rate_limited`, `insufficient_scope` or `not_found`. */
export async function proveAccess(
  { access, rateLimits }: OpenAccessOptions,
  principal: Principal,
  { kind, id }: LeasedResource,
  scopes: readonly Scope[],
  { deleted = false, onDraw }: OpenRules = {},
): Promise<ProvenAccess> {
  const draw = await rateLimits.draw(["rate.connects"], toCredentialId(principal));
  onDraw?.(draw);
  if (draw.refusal !== undefined) throw draw.refusal;
  checkKeyScopes(principal, scopes);
  const found = await access.resolve(principal, kind, id, { deleted });
  if (found === undefined) throw notFound();
  return { principal, access: found };
}
