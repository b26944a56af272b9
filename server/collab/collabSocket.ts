/**
 * `GET /collab/{articleId}`: the WebSocket that speaks plain y-websocket.
 *
 * It takes upgrades for this path, refuses pages of foreign origins, and tells its open sockets what becomes true
 * about access. Who gets in is `collabSession`'s to decide, what is said there the room's.
 */
import { randomUUID } from "node:crypto";
import { AppError, errorRow, notFound } from "../../api/schema/error.ts";
import type { AccessWatch } from "../auth/accessFacts.ts";
import { problemMediaType, toProblem, toProblemHeaders } from "../calls/problem.ts";
import type { HttpReply, HttpRequest, UpgradeAnswer } from "../host/port.ts";
import { CollabSession, type CollabSessionOptions } from "./collabSession.ts";
import { isOriginAllowed, toOrigins } from "./origin.ts";
import { type Presented, presentedByUpgrade } from "./presented.ts";

export interface CollabSocketOptions extends CollabSessionOptions {
  readonly accessWatch: Pick<AccessWatch, "subscribe">;
  readonly baseUrl: string;
  readonly corsOrigins: readonly string[];
}

export interface CollabSocket {
  /** For every upgrade request; another path than `/collab/{articleId}` is refused with 404. */
  upgrade(request: HttpRequest): UpgradeAnswer;
  /** Ends the watch over access; what is open is closed by `Rooms.drain`. */
  stop(): void;
}

export function createCollabSocket(options: CollabSocketOptions): CollabSocket {
  const { accessWatch, baseUrl, corsOrigins } = options;
  const origins = toOrigins(baseUrl, corsOrigins);
  const sessions = new Set<CollabSession>();

  const unsubscribe = accessWatch.subscribe(
    (fact) => {
      for (const session of [...sessions]) session.note(fact);
    },
    // Whoever comes again shows its credential again.
    () => {
      for (const session of [...sessions]) session.finish(1012, "access has to be shown again");
    },
  );

  function refuse(request: HttpRequest, refusal: AppError): { readonly refuse: HttpReply } {
    const problem = toProblem(refusal, { baseUrl, instance: request.path, requestId: randomUUID() });
    const headers = { ...toProblemHeaders(refusal, problem), "content-type": problemMediaType };
    return { refuse: { status: errorRow(refusal.code).status, headers, body: JSON.stringify(problem) } };
  }

  return {
    upgrade(request) {
      const articleId = /^\/collab\/([A-Za-z0-9_]{1,64})$/.exec(request.path)?.[1];
      if (articleId === undefined) return refuse(request, notFound());
      if (!isOriginAllowed(request, origins)) {
        const detail = "Pages of this origin may not open sockets here; the operator can allow it in CORS_ORIGINS.";
        return refuse(request, new AppError("insufficient_permission", detail));
      }
      const query = new URLSearchParams(request.query);
      let presented: Presented | AppError | undefined;
      try {
        presented = presentedByUpgrade(request, query.get("ticket"));
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        presented = error;
      }
      const asked = { articleId, extensions: query.get("extensions") === "1", presented };
      return { accept: new CollabSession(options, asked, sessions) };
    },
    stop() {
      unsubscribe();
    },
  };
}
