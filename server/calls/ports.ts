/**
 * What the wrapper needs from identity: who is behind a credential, and what that principal may do with a
 * resource. The wrapper knows nothing of keys, tokens, members or how an article finds its workspace.
 */
import type { ResourceKind } from "../../api/operation.ts";
import type { Access, Principal } from "./call.ts";

/** The credential as it came: never both members (that request is refused before anyone is asked). */
export interface PresentedCredential {
  /** Value of `x-api-key`. */
  readonly apiKey?: string;
  /** Token of `Authorization: Bearer`. */
  readonly bearer?: string;
}

export interface Authenticator {
  /** Refuses with the 401 family: `unauthenticated`, `token_expired`, `key_expired`, `key_revoked`. */
  authenticate(credential: PresentedCredential): Promise<Principal>;
}

export interface AccessResolver {
  /** `undefined` for a resource that is missing or not visible to the principal: both answer 404. */
  resolve(principal: Principal, kind: ResourceKind, id: string, options: { readonly deleted: boolean }): Promise<Access | undefined>;
}
