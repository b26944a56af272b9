/**
 * `createCors` decides which pages of other origins may read answers (CORS).
 *
 * Every origin may read public routes; only the configured origins may read the API. Cookies are never allowed, because
 * credentials are sent in headers that a page must set itself.
 */
import type { HttpReply, HttpRequest } from "./port.ts";

export interface Cors {
  /** Returns the reply with the CORS headers that let the browser pass it to the page. */
  apply(request: HttpRequest, reply: HttpReply, isPublic: boolean): HttpReply;
  /** Returns the answer to OPTIONS on a path that exists. */
  options(request: HttpRequest, allow: readonly string[], isPublic: boolean): HttpReply;
}

const requestHeaders =
  "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, prefer, traceparent, trpc-accept, x-api-key, x-request-id, x-svc-api-version";
const exposedHeaders =
  "content-disposition, etag, idempotency-replayed, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id, x-svc-api-version, x-svc-article, x-svc-content-hash, x-svc-gate-findings, x-svc-job, x-svc-revision";
const preflightSeconds = 600;

export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);

  function allowOrigin(request: HttpRequest, isPublic: boolean): string | undefined {
    if (isPublic) return "*";
    const origin = request.header("origin");
    return origin !== undefined && allowed.has(origin) ? origin : undefined;
  }

  return {
    apply(request, reply, isPublic) {
      if (!isPublic && allowed.size === 0) return reply;
      const origin = allowOrigin(request, isPublic);
      // Without `vary`, a cache could serve the answer for one origin to another origin.
      const vary = isPublic ? {} : { vary: reply.headers.vary === undefined ? "origin" : `${reply.headers.vary}, origin` };
      if (origin === undefined) return { ...reply, headers: { ...reply.headers, ...vary } };
      const cors = { "access-control-allow-origin": origin, "access-control-expose-headers": exposedHeaders };
      return { ...reply, headers: { ...reply.headers, ...vary, ...cors } };
    },
    options(request, allow, isPublic) {
      const headers: Record<string, string> = { allow: allow.join(", ") };
      if (allowOrigin(request, isPublic) !== undefined && request.header("access-control-request-method") !== undefined) {
        headers["access-control-allow-methods"] = allow.join(", ");
        headers["access-control-allow-headers"] = requestHeaders;
        headers["access-control-max-age"] = String(preflightSeconds);
      }
      return this.apply(request, { status: 204, headers }, isPublic);
    },
  };
}
