/**
 * This module defines what the call wrapper needs from identity: the principal behind a credential, and the access of
 * that principal to a resource. The wrapper knows nothing about keys, tokens, members or the workspace of an article.
 */
import type { ResourceKind } from "../../../api/contract/operation.ts";
import type { Access, Principal } from "./call.ts";

/** The credential of the request. At most one member is set: a request with both is rejected before authentication. */
export interface PresentedCredential {
  /** Value of `x-api-key`. */
  readonly apiKey?: string;
  /** Token of `Authorization: Bearer`. */
  readonly bearer?: string;
}

export interface Authenticator {
  /** Returns the principal. Throws a 401 error: `unauthenticated`, `token_expired`, `key_expired` or `key_revoked`. */
  authenticate(credential: PresentedCredential): Promise<Principal>;
}

export interface AccessResolver {
  /**
   * Returns `undefined` for a resource that does not exist or is not visible to the principal. Both cases answer 404.
   * With `deleted`, a resource in the trash is found as well; the result then has a `trashedArticleId`.
   */
  resolve(principal: Principal, kind: ResourceKind, id: string, options: { readonly deleted: boolean }): Promise<Access | undefined>;
}
