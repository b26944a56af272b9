/** CredentialId names the credential of a principal for rate limits and logs. */
import type { Principal } from "../../domain/call/call.ts";

/** Id of the session or API key of the request. Rate limits and logs use it. */
export function toCredentialId(principal: Principal): string {
  return principal.kind === "key" ? principal.keyId : principal.sessionId;
}
