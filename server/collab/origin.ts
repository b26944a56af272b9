/** Which web pages may open a collaboration socket. */
import type { HttpRequest } from "../host/port.ts";

/**
 * True without an Origin (no browser) and for the server's own: the host that was asked, or one of `allowed`
 * (BASE_URL and CORS_ORIGINS). Browsers send it always and pages cannot change it.
 */
export function isOriginAllowed(request: Pick<HttpRequest, "header">, allowed: ReadonlySet<string>): boolean {
  const origin = request.header("origin");
  if (origin === undefined || allowed.has(origin)) return true;
  // An origin is scheme and host; "null" (a sandboxed page, a file) is neither.
  const host = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
  return host !== undefined && host === request.header("host")?.toLowerCase();
}

export function toOrigins(baseUrl: string, corsOrigins: readonly string[]): ReadonlySet<string> {
  return new Set([new URL(baseUrl).origin, ...corsOrigins]);
}
