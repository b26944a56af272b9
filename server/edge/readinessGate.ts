/**
 * `createReadinessGate` puts a gate between the host and the app, so that the host can listen before the app is built
 * and while it is taken down.
 *
 * Before `open`, the gate answers 503, except that `/healthz` gets 200 and an event stream is asked to reconnect. While
 * draining, requests are still served, but each connection is closed after its next answer, so that clients reconnect
 * to another node.
 */
import { AppError } from "../../api/schema/error.ts";
import { problemMediaType, toProblem, toProblemHeaders } from "../domain/call/problem.ts";
import { createRequestContext } from "./calls/requestContext.ts";
import type { BodySink, HostApp, HttpReply, HttpRequest, StreamedBody } from "./host/port.ts";
import { isStreamed } from "./host/reply.ts";
import { notReadyYet } from "./pages/probes.ts";
import { eventStreamHeaders, wantsEventStream, writeRetry } from "./streams/eventStream.ts";

export interface ReadinessGate extends HostApp {
  /** Passes all later requests to the app. */
  open(app: HostApp): void;
  readonly isServing: () => boolean;
  /**
   * Refuses new sockets and closes each connection after its next answer. Resolves when no request and no upgrade is being
   * handled and no streamed body is being sent.
   */
  drain(): Promise<void>;
}

/** `baseUrl` is a function because the port may not be known yet when the gate is created. */
export function createReadinessGate(baseUrl: () => string): ReadinessGate {
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
      let isStreaming = false;
      try {
        let reply = await app.handle(request);
        if (isStreamed(reply.body)) {
          reply = { ...reply, body: new ObservedBody(reply.body, ended) };
          isStreaming = true;
        }
        return draining ? { ...reply, close: true } : reply;
      } finally {
        if (!isStreaming) ended();
      }
    },
    async upgrade(request) {
      if (app === undefined || draining) return { refuse: notStarted(request, baseUrl()) };
      underWay += 1;
      try {
        return await app.upgrade(request);
      } finally {
        ended();
      }
    },
  };
}

/** Passes all calls on. Calls `onEnd` when the body is closed. */
class ObservedBody implements StreamedBody {
  readonly #body: StreamedBody;
  readonly #onEnd: () => void;

  constructor(body: StreamedBody, onEnd: () => void) {
    this.#body = body;
    this.#onEnd = onEnd;
  }

  open(sink: BodySink): void {
    this.#body.open(sink);
  }

  drain(): void {
    this.#body.drain();
  }

  close(): void {
    try {
      this.#body.close();
    } finally {
      this.#onEnd();
    }
  }
}

function notStarted(request: HttpRequest, baseUrl: string): HttpReply {
  if (request.path === "/healthz") return { status: 200, headers: { "content-type": "application/json" }, body: `{"status":"ok"}` };
  if (request.path === "/readyz") return notReadyYet();
  const { requestId } = createRequestContext(request, 0);
  // An EventSource stops reconnecting after any other answer.
  if (wantsEventStream(request.header("accept"))) {
    return { status: 200, headers: { ...eventStreamHeaders, "x-request-id": requestId }, body: writeRetry(1000), close: true };
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
