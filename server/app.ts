/**
 * The assembly of everything that answers HTTP: the operations over REST and tRPC, the routes that are no operation,
 * the OpenAPI document, the pages of the problems, cross-origin rules. It makes a host's app out of services it is
 * handed, and knows no storage, no host and no settings.
 */
import type { AppContract } from "../api/contract/contract.ts";
import { streams } from "../api/contract/streams.ts";
import { toOpenApi } from "../api/derive/openapi.ts";
import { AppError, notFound } from "../api/schema/error.ts";
import type { Handlers } from "./calls/call.ts";
import { type PreparedOperation, prepareOperations } from "./calls/preparedOperation.ts";
import { createRequestContext, type RequestContext } from "./calls/requestContext.ts";
import { type ServedRoute, toHttpReply, toRestRoute } from "./calls/restHttp.ts";
import { toTrpcRoutes } from "./calls/trpcHttp.ts";
import { type Calls, type CallsOptions, createCalls } from "./calls/wrapper.ts";
import { createCors } from "./host/cors.ts";
import { ClientGone, type HostApp, type HttpReply, type HttpRequest } from "./host/port.ts";
import { createRouter, type Route, type RouteMatch } from "./host/router.ts";
import { problemRoutes } from "./pages/problemPages.ts";

export interface AppOptions extends CallsOptions {
  readonly contract: AppContract;
  readonly handlers: Handlers<AppContract>;
  /** Origins of `CORS_ORIGINS`. */
  readonly corsOrigins: readonly string[];
  /** Trusted proxies in front of the server (`TRUST_PROXY`). */
  readonly proxyHops: number;
  /** Pages, probes and documents of the other parts. */
  readonly routes: readonly Route[];
  /** Live streams, which refuse like operations. */
  readonly streams?: (calls: Pick<Calls, "refuse">) => readonly ServedRoute[];
  readonly upgrade: HostApp["upgrade"];
}

export function createApp(options: AppOptions): HostApp {
  const { limits } = options;
  const operations = prepareOperations(options.contract, options.handlers, limits);
  const calls = createCalls(options);
  const cors = createCors(options.corsOrigins);
  const router = createRouter<ServedRoute>([
    ...[...operations.values()].map((operation: PreparedOperation) => toRestRoute(operation, calls, limits)),
    ...toTrpcRoutes({ operations, calls, limits }),
    ...(options.streams?.(calls) ?? []).map((route) => toCounted(route, options)),
    ...[...options.routes, ...problemRoutes(), openApiRoute(options)].map((route) => toServed(route, calls, options)),
  ]);

  const openToOthers = options.corsOrigins.length > 0;

  async function mismatch(request: HttpRequest, match: Mismatch, context: RequestContext): Promise<HttpReply> {
    if (match.kind === "method" && request.method === "OPTIONS") {
      return cors.options(
        request,
        match.allow,
        match.routes.some((route) => route.publicCors),
      );
    }
    const answer = await calls.refuse(toRefusal(match, request), context, "none");
    return cors.apply(request, toHttpReply(answer), false);
  }

  return {
    /** What a service throws is answered further in; what is thrown here is a bug, and the host's 500. */
    handle(request) {
      const context = createRequestContext(request, options.proxyHops);
      const match = router.match(request.method, request.path);
      if (match.kind !== "found") return mismatch(request, match, context);
      const { route, params } = match;
      // In this turn, so that the body can still be asked for.
      const reply = route.serve(request, params, context);
      if (!openToOthers && !route.publicCors) return reply;
      return reply.then((given) => cors.apply(request, given, route.publicCors));
    },
    upgrade: options.upgrade,
  };
}

type Mismatch = Exclude<RouteMatch<ServedRoute>, { kind: "found" }>;

function toRefusal(match: Mismatch, request: HttpRequest): AppError {
  if (match.kind === "malformed") return new AppError("bad_request", "The path must be percent-encoded UTF-8.");
  if (match.kind === "none") return notFound();
  const allow = match.allow.join(", ");
  return new AppError("method_not_allowed", `${request.method} is not possible here; ${allow} are.`, {}, { allow });
}

/** An opened stream counts as answered; what it tells afterwards is its own. */
function toCounted(route: ServedRoute, { onAnswered }: Pick<AppOptions, "onAnswered">): ServedRoute {
  const operation = `${route.method} ${route.path}`;
  return {
    ...route,
    async serve(request, params, context) {
      const startedAt = performance.now();
      const reply = await route.serve(request, params, context);
      // Refusals were counted where they were made.
      const { requestId } = context;
      if (reply.status < 400) onAnswered?.({ operation, status: reply.status, ms: performance.now() - startedAt, requestId });
      return reply;
    },
  };
}

/** A route of another part: what it throws becomes a problem, and its answers are counted like those of operations. */
function toServed(route: Route, calls: Calls, { onAnswered }: Pick<AppOptions, "onAnswered">): ServedRoute {
  const operation = `${route.method} ${route.path}`;
  return {
    method: route.method,
    path: route.path,
    publicCors: route.publicCors === true,
    async serve(request, params, context: RequestContext) {
      const startedAt = performance.now();
      try {
        const reply = await route.handle(request, params);
        const { requestId } = context;
        onAnswered?.({ operation, status: reply.status, ms: performance.now() - startedAt, requestId });
        return { ...reply, headers: { ...reply.headers, "x-request-id": requestId } };
      } catch (error) {
        if (error instanceof ClientGone) throw error;
        return toHttpReply(await calls.refuse(error, context, operation));
      }
    },
  };
}

function openApiRoute({ contract, baseUrl }: Pick<AppOptions, "contract" | "baseUrl">): Route {
  const body = JSON.stringify(toOpenApi(contract, streams, { baseUrl }));
  const headers = { "content-type": "application/json" };
  return { method: "GET", path: "/openapi.json", publicCors: true, handle: () => ({ status: 200, headers, body }) };
}
