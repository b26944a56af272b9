/** Requests public pages through their routes, without a host. Refusals are thrown as they are. */
import { createRequestContext } from "../../server/edge/calls/requestContext.ts";
import type { ServedRoute } from "../../server/edge/calls/restHttp.ts";
import type { HttpReply } from "../../server/edge/host/port.ts";
import { createRouter } from "../../server/edge/host/router.ts";
import type { PublicPageRoutes } from "../../server/edge/pages/publicPage.ts";

const calls = { refuse: (thrown: unknown) => Promise.reject(thrown) };

export function createPageRequests({ routes, assets }: Pick<PublicPageRoutes, "routes" | "assets">) {
  const router = createRouter<ServedRoute>([
    ...routes(calls),
    ...assets.map((route) => ({
      ...route,
      publicCors: true,
      serve: async (...[request, params]: Parameters<ServedRoute["serve"]>) => route.handle(request, params),
    })),
  ]);
  return async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpReply> => {
    const match = router.match("GET", path);
    if (match.kind !== "found") throw new Error(`no route for ${path}`);
    const request = {
      method: "GET",
      path,
      query: "",
      remoteAddress: "203.0.113.9",
      fault: undefined,
      header: (name: string) => headers[name],
      body: () => ({ declaredBytes: 0, read: () => Promise.reject(new Error("no body")) }),
      signal: new AbortController().signal,
    };
    return match.route.serve(request, match.params, createRequestContext(request, 0));
  };
}
