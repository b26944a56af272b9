/** Origin decides which web pages may open a collaboration socket. */
import type { HttpRequest } from "../host/port.ts";

/**
 * True if there is no Origin header (the client is not a browser), if its host equals the Host header, or if it is in
 * `allowed` (BASE_URL and CORS_ORIGINS). A browser always sends the header on an upgrade, and a page cannot change it.
 */
export function isOriginAllowed(request: Pick<HttpRequest, "header">, allowed: ReadonlySet<string>): boolean {
  const origin = request.header("origin");
  if (origin === undefined || allowed.has(origin)) return true;
  // The origin "null" (a sandboxed page or a file) has no host and is refused.
  const host = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
  return host !== undefined && host === request.header("host")?.toLowerCase();
}

export function toOrigins(baseUrl: string, corsOrigins: readonly string[]): ReadonlySet<string> {
  return new Set([new URL(baseUrl).origin, ...corsOrigins]);
}
