/**
 * `createApp` builds the application that a host serves.
 *
 * The application answers the operations over REST and tRPC, the routes that are not operations, the OpenAPI document
 * and the problem pages, and applies the CORS rules. All services are passed in: this module knows no storage, no
 * concrete host and no settings.
 */
import { type AppContract, resourceDescriptions } from "../../api/contract/contract.ts";
import { streams } from "../../api/contract/streams.ts";
import { toOpenApi } from "../../api/derive/openapi.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Handlers } from "../domain/call/call.ts";
import { createBodyBudget } from "./calls/bodyBudget.ts";
import { compileInPauses, type PreparedOperation, prepareOperations } from "./calls/preparedOperation.ts";
import { createRequestContext, type RequestContext } from "./calls/requestContext.ts";
import { type ServedRoute, toRestRoute } from "./calls/restHttp.ts";
import { toTrpcRoutes } from "./calls/trpcHttp.ts";
import { type CallWrapper, type CallWrapperOptions, createCallWrapper } from "./calls/wrapper.ts";
import { createCors } from "./host/cors.ts";
import { ClientGone, type HostApp, type HttpReply, type HttpRequest } from "./host/port.ts";
import { createRouter, type Route, type RouteMatch } from "./host/router.ts";
import { problemRoutes } from "./pages/problemPages.ts";
import { serviceStyleRoute } from "./pages/servicePage.ts";

export interface AppOptions extends CallWrapperOptions {
  readonly contract: AppContract;
  readonly handlers: Handlers<AppContract>;
  /** Origins from the setting `CORS_ORIGINS`. */
  readonly corsOrigins: readonly string[];
  /** Number of trusted proxies in front of the server (`TRUST_PROXY`). */
  readonly proxyHops: number;
  /** Routes of other modules: pages, probes and documents. */
  readonly routes: readonly Route[];
  /**
   * Creates the routes that answer refusals themselves: live streams and public pages. They use `refuse`, so their refusals
   * look like those of operations.
   */
  readonly servedRoutes?: (calls: Pick<CallWrapper, "refuse">) => readonly ServedRoute[];
  readonly upgrade: HostApp["upgrade"];
}

export interface App extends HostApp {
  /** Bytes of request bodies that are in memory now. */
  bodyBytesInFlight(): number;
  /** Compiles the schemas of all operations in pauses. Returns a function that ends it. */
  compileInPauses(): () => void;
}

export function createApp(options: AppOptions): App {
  const { limits } = options;
  const bodies = createBodyBudget(limits);
  const operations = prepareOperations(options.contract, options.handlers, limits);
  const calls = createCallWrapper(options);
  const cors = createCors(options.corsOrigins);
  const router = createRouter<ServedRoute>([
    ...[...operations.values()].map((operation: PreparedOperation) => toRestRoute(operation, calls, limits, bodies)),
    ...toTrpcRoutes({ operations, calls, limits, bodies, baseUrl: options.baseUrl }),
    ...(options.servedRoutes?.(calls) ?? []).map((route) => toCounted(route, options)),
    ...[...options.routes, ...problemRoutes, serviceStyleRoute, openApiRoute(options)].map((route) => toServed(route, calls, options)),
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
    const answer = await calls.refuse(toRoutingError(match, request, options.baseUrl), context, "none");
    return cors.apply(request, answer, false);
  }

  /** Closes the connection, because the end of a faulty request is uncertain and the following bytes cannot be trusted. */
  async function refuseFault(request: HttpRequest, fault: string, context: RequestContext): Promise<HttpReply> {
    const answer = await calls.refuse(new AppError("bad_request", fault), context, "none");
    return cors.apply(request, { ...answer, close: true }, false);
  }

  return {
    /** Errors of services are already turned into answers by the routes. An error thrown here is a bug; the host answers 500. */
    handle(request) {
      const context = createRequestContext(request, options.proxyHops);
      if (request.fault !== undefined) return refuseFault(request, request.fault, context);
      const match = router.match(request.method, request.path);
      if (match.kind !== "found") return mismatch(request, match, context);
      const { route, params } = match;
      // Call the route synchronously: a body can be opened only in the same turn as the handler.
      const reply = route.serve(request, params, context);
      if (!openToOthers && !route.publicCors) return reply;
      return reply.then((given) => cors.apply(request, given, route.publicCors));
    },
    upgrade(request) {
      if (request.fault === undefined) return options.upgrade(request);
      return refuseFault(request, request.fault, createRequestContext(request, options.proxyHops)).then((refuse) => ({ refuse }));
    },
    bodyBytesInFlight: bodies.bytesInFlight,
    compileInPauses: () => compileInPauses(operations.values()),
  };
}

type Mismatch = Exclude<RouteMatch<ServedRoute>, { kind: "found" }>;

/** Longer paths are cut in messages. */
const maxShownPath = 200;

function toRoutingError(match: Mismatch, { method, path }: HttpRequest, baseUrl: string): AppError {
  if (match.kind === "malformed") return new AppError("bad_request", "The path must be percent-encoded UTF-8.");
  if (match.kind === "none") {
    const shown = path.length > maxShownPath ? `${path.slice(0, maxShownPath)}…` : path;
    return new AppError("not_found", `There is no operation ${method} ${shown}. ${baseUrl}/openapi.json lists all operations.`);
  }
  const allow = match.allow.join(", ");
  return new AppError("method_not_allowed", `This path does not allow ${method}; it allows ${allow}.`, {}, { allow });
}

/** Reports an answer to `onAnswered`, a stream when it opens. The events sent later are not counted. */
function toCounted(route: ServedRoute, { onAnswered }: Pick<AppOptions, "onAnswered">): ServedRoute {
  const operation = `${route.method} ${route.path}`;
  return {
    ...route,
    async serve(request, params, context) {
      const startedAt = performance.now();
      const reply = await route.serve(request, params, context);
      // `refuse` has already reported the refusals that it made. They have a problem.
      const isReported = reply.status >= 400 && "problem" in reply;
      const { requestId } = context;
      if (!isReported) onAnswered?.({ operation, status: reply.status, ms: performance.now() - startedAt, requestId });
      return reply;
    },
  };
}

/** Serves a route of another module: its errors become problem answers, and its answers are reported to `onAnswered`. */
function toServed(route: Route, calls: CallWrapper, { onAnswered }: Pick<AppOptions, "onAnswered">): ServedRoute {
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
        return calls.refuse(error, context, operation);
      }
    },
  };
}

/** The document is made for the first request: it takes a quarter of the time and memory of a start. */
function openApiRoute({ contract, baseUrl }: Pick<AppOptions, "contract" | "baseUrl">): Route {
  let body: string | undefined;
  const headers = { "content-type": "application/json" };
  return {
    method: "GET",
    path: "/openapi.json",
    publicCors: true,
    handle() {
      body ??= JSON.stringify(toOpenApi(contract, streams, { baseUrl, resourceDescriptions }));
      return { status: 200, headers, body };
    },
  };
}
