/** PublicRoute makes a route that needs no credential and has a limit of its own. The headers of each answer state the limit. */
import { ClientGone, type HttpReply, type HttpRequest } from "../host/port.ts";
import type { PathParams } from "../host/router.ts";
import { type Draw, toRateHeaders } from "./rateLimits.ts";
import type { RequestContext } from "./requestContext.ts";
import type { ServedRoute } from "./restHttp.ts";
import type { CallWrapper } from "./wrapper.ts";

export interface PublicRouteOptions {
  readonly path: ServedRoute["path"];
  readonly calls: Pick<CallWrapper, "refuse">;
  draw(remoteAddress: string): Promise<Draw>;
  answer(request: HttpRequest, params: PathParams, context: RequestContext): Promise<HttpReply>;
}

export function toPublicRoute({ path, calls, draw, answer }: PublicRouteOptions): ServedRoute {
  return {
    method: "GET",
    path,
    publicCors: true,
    async serve(request, params, context) {
      let drawn: Draw | undefined;
      try {
        drawn = await draw(context.remoteAddress);
        if (drawn.refusal !== undefined) throw drawn.refusal;
        const reply = await answer(request, params, context);
        return { ...reply, headers: { ...reply.headers, ...toRateHeaders(drawn), "x-request-id": context.requestId } };
      } catch (reason) {
        if (reason instanceof ClientGone) throw reason;
        return calls.refuse(reason, context, `GET ${path}`, drawn);
      }
    },
  };
}
