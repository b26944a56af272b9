/**
 * What the host talks to from the first moment to the last: a door in front of the app that is still being built,
 * or already being taken down. Until the app is there it answers 503 to all but the question whether the process
 * lives; while draining it lets what is under way end and asks clients to come back elsewhere.
 */
import { AppError } from "../api/schema/error.ts";
import { problemMediaType, toProblem, toProblemHeaders } from "./calls/problem.ts";
import { createRequestContext } from "./calls/requestContext.ts";
import type { HostApp, HttpReply, HttpRequest } from "./host/port.ts";
import { notReadyYet } from "./observability/probes.ts";
import { comeAgain, eventStreamHeaders, wantsEventStream } from "./streams/eventStream.ts";

export interface FrontDoor extends HostApp {
  /** From now on requests go to the app. */
  open(app: HostApp): void;
  readonly isServing: () => boolean;
  /** Refuses new sockets, closes connections after their next answer; resolves when no request is under way. */
  drain(): Promise<void>;
}

/** `baseUrl` is asked when it is needed: the port may not be known yet. */
export function createFrontDoor(baseUrl: () => string): FrontDoor {
  let app: HostApp | undefined;
  let draining = false;
  let underWay = 0;
  let idle: (() => void) | undefined;

  function ended(): void {
    underWay -= 1;
    if (underWay === 0) idle?.();
  }

  return {
    open(ready) {
      app = ready;
    },
    isServing: () => app !== undefined && !draining,
    async drain() {
      draining = true;
      if (underWay > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
    async handle(request) {
      if (app === undefined) return notStarted(request, baseUrl());
      underWay += 1;
      try {
        const reply = await app.handle(request);
        return draining ? { ...reply, close: true } : reply;
      } finally {
        ended();
      }
    },
    upgrade(request) {
      return app === undefined || draining ? { refuse: notStarted(request, baseUrl()) } : app.upgrade(request);
    },
  };
}

function notStarted(request: HttpRequest, baseUrl: string): HttpReply {
  if (request.path === "/healthz") return { status: 200, headers: { "content-type": "application/json" }, body: `{"status":"ok"}` };
  if (request.path === "/readyz") return notReadyYet();
  const { requestId } = createRequestContext(request, 0);
  // Any other answer ends an EventSource for good.
  if (wantsEventStream(request.header("accept"))) {
    return { status: 200, headers: { ...eventStreamHeaders, "x-request-id": requestId }, body: comeAgain(1000), close: true };
  }
  const refusal = new AppError("unavailable", "The server is starting or stopping; try again in a moment.", { retryAfter: 1 });
  const problem = toProblem(refusal, { baseUrl, instance: request.path, requestId });
  return {
    status: problem.status,
    headers: { "content-type": problemMediaType, "x-request-id": requestId, ...toProblemHeaders(refusal, problem) },
    body: JSON.stringify(problem),
    close: true,
  };
}
