/**
 * CollabSocket serves `GET /collab/{articleId}`, the WebSocket that speaks plain y-websocket.
 *
 * It answers upgrades for this path, refuses pages of foreign origins and addresses above their rate, delays clients
 * that were refused too often, and creates the access leases of the sockets. It must not handle frames or documents:
 * `collabSession` and the room do that.
 */
import { createHash } from "node:crypto";
import { AppError, errorRow, notFound } from "../../../api/schema/error.ts";
import { problemMediaType, toProblem, toProblemHeaders, toRefusal } from "../../domain/call/problem.ts";
import type { AccessWatch } from "../../domain/identity/access/accessFacts.ts";
import { createAccessLeases } from "../../domain/identity/access/accessLease.ts";
import { toAddressSubject } from "../calls/addressSubject.ts";
import { isOriginAllowed, toOrigins } from "../calls/origin.ts";
import { createRequestContext, type RequestContext } from "../calls/requestContext.ts";
import type { HttpReply, HttpRequest, UpgradeAnswer } from "../host/port.ts";
import { createAnonymousSockets } from "./anonymousSockets.ts";
import { CollabSession, type CollabSessionOptions } from "./collabSession.ts";
import { type Presented, presentedByUpgrade } from "./presented.ts";
import { createRefusalHold } from "./refusalHold.ts";
import { SharedAccess } from "./sharedAccess.ts";
import { createSocketLog } from "./socketLog.ts";

export interface CollabSocketOptions extends Omit<CollabSessionOptions, "socketLog" | "leases" | "sharedAccess"> {
  readonly accessWatch: Pick<AccessWatch, "subscribe">;
  readonly baseUrl: string;
  readonly corsOrigins: readonly string[];
  /** Trusted proxies in front of the server (`TRUST_PROXY`). */
  readonly proxyHops: number;
}

export interface CollabSocket {
  /** Answers every upgrade request. Any path other than `/collab/{articleId}` gets 404. */
  upgrade(request: HttpRequest): Promise<UpgradeAnswer>;
  /** Ends the subscription to access facts and all holds. `Rooms.drain` closes the open sockets. */
  stop(): void;
}

export function createCollabSocket(options: CollabSocketOptions): CollabSocket {
  const { baseUrl, corsOrigins, proxyHops, rateLimits, log } = options;
  const origins = toOrigins(baseUrl, corsOrigins);
  const anonymous = createAnonymousSockets(options);
  const hold = createRefusalHold(options);
  const socketLog = createSocketLog(log);
  const leases = createAccessLeases(options);
  const sessionOptions: CollabSessionOptions = { ...options, socketLog, leases, sharedAccess: new SharedAccess() };

  function refuse(request: HttpRequest, context: RequestContext, thrown: unknown, articleId?: string): { readonly refuse: HttpReply } {
    const { refusal, bug } = toRefusal(thrown);
    const { requestId } = context;
    if (bug) log.error({ err: thrown, requestId, articleId }, "an upgrade failed because of a bug");
    const problem = toProblem(refusal, { baseUrl, instance: request.path, requestId });
    const { status } = errorRow(refusal.code);
    socketLog.refusedUpgrade({ requestId, articleId }, { status, reason: refusal.message, origin: request.header("origin") });
    const headers = { ...toProblemHeaders(refusal, problem), "content-type": problemMediaType, "x-request-id": requestId };
    return { refuse: { status, headers, body: JSON.stringify(problem) } };
  }

  /** Returns the session for an upgrade: proven, waiting for a credential, or refused (it closes as soon as it opens). */
  async function accept(request: HttpRequest, context: RequestContext, articleId: string): Promise<CollabSession> {
    const { signal } = request;
    const query = new URLSearchParams(request.query);
    const presented = readCredential(request, query.get("ticket"));
    const address = toAddressSubject(context.remoteAddress);
    const caller = toCaller(address, presented);
    const { requestId } = context;
    const extensions = query.get("extensions") === "1";
    const session = new CollabSession(sessionOptions, { requestId, articleId, extensions, onRefused: () => hold.count(caller) });
    const leave = () => session.abandon();
    signal.addEventListener("abort", leave);
    if (signal.aborted) leave();

    if (presented instanceof AppError) session.refuse(presented);
    else if (presented !== undefined) await session.prove(presented);
    if (presented === undefined || session.isRefused) await hold.wait(caller, signal);
    if (presented === undefined && !session.isRefused && !signal.aborted) {
      const place = anonymous.take(address);
      if (place !== undefined) session.awaitCredential(place);
      else session.finish(4429, "too many sockets without a credential: send it with the upgrade, or try again later");
    }
    return session;
  }

  return {
    async upgrade(request) {
      const context = createRequestContext(request, proxyHops);
      const articleId = /^\/collab\/([A-Za-z0-9_]{1,64})$/.exec(request.path)?.[1];
      if (articleId === undefined) return refuse(request, context, notFound());
      if (!isOriginAllowed(request, origins)) {
        const detail = "Pages of this origin may not open sockets here; the operator can allow it in CORS_ORIGINS.";
        return refuse(request, context, new AppError("insufficient_permission", detail), articleId);
      }
      try {
        const { refusal } = await rateLimits.draw(["rate.upgrades"], toAddressSubject(context.remoteAddress));
        if (refusal !== undefined) return refuse(request, context, refusal, articleId);
      } catch (error) {
        return refuse(request, context, error, articleId);
      }
      return { accept: await accept(request, context, articleId) };
    },
    stop() {
      leases.stop();
      hold.stop();
    },
  };
}

function readCredential(request: HttpRequest, ticket: string | null): Presented | AppError | undefined {
  try {
    return presentedByUpgrade(request, ticket);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error;
  }
}

/**
 * Returns the key under which refusals are counted: the address and a hash of the credential. Clients that share an
 * address and whose tickets expire at the same time then do not delay each other.
 */
function toCaller(address: string, presented: Presented | AppError | undefined): string {
  if (presented === undefined || presented instanceof AppError) return address;
  const credential = Object.values(presented).join();
  return `${address}/${createHash("sha256").update(credential).digest("base64url")}`;
}
