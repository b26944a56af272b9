/**
 * Origin decides which web pages may open collaboration sockets and use the web session.
 *
 * A page belongs to this service if its origin is that of BASE_URL, or if its host equals the Host header of the
 * request. Browsers set both headers, and a page cannot change them. So a server that is reached under several names
 * needs no setting for its own pages.
 */
import type { HttpRequest } from "../host/port.ts";

type Head = Pick<HttpRequest, "header">;

/** True if there is no Origin header (the client is not a browser), for own pages, and for origins in `allowed`. */
export function isOriginAllowed(request: Head, allowed: ReadonlySet<string>): boolean {
  const origin = request.header("origin");
  return origin === undefined || allowed.has(origin) || isAtSameHost(request, origin);
}

/** Returns BASE_URL's origin and those of CORS_ORIGINS. */
export function toOrigins(baseUrl: string, corsOrigins: readonly string[]): ReadonlySet<string> {
  return new Set([new URL(baseUrl).origin, ...corsOrigins]);
}

/**
 * True if the page belongs to this service. Its scheme must be that of `ownOrigin`, because a page over plain http can be
 * changed on its way.
 */
export function isOwnPage(request: Head, origin: string, ownOrigin: string): boolean {
  return origin === ownOrigin || (schemeOf(origin) === schemeOf(ownOrigin) && isAtSameHost(request, origin));
}

/** The origin "null" (a sandboxed page or a file) has no host. */
function isAtSameHost(request: Head, origin: string): boolean {
  const host = /^https?:\/\/([^/]+)$/.exec(origin)?.[1];
  return host !== undefined && host === request.header("host")?.toLowerCase();
}

function schemeOf(origin: string): string {
  return origin.slice(0, origin.indexOf("://"));
}
