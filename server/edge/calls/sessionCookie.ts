/**
 * SessionCookie carries the session of the service's own web app: the cookie `svc_session` holds its refresh token.
 *
 * Browsers send a cookie by themselves, so a page of another origin must not be able to use it. The cookie counts on the
 * operations with `webSession` and nowhere else. This module must not know what a refresh token means.
 */
import type { WebSessionUse } from "../../../api/contract/operation.ts";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { CallReply } from "../../domain/call/call.ts";
import type { Answer } from "./answer.ts";
import { isOwnPage } from "./origin.ts";
import type { RequestContext } from "./requestContext.ts";

const cookieName = "svc_session";
/** Browsers send the cookie to this path and to paths below it. */
const cookiePath = "/auth/web-session";
/** Longer origins are cut in messages. */
const maxShownOrigin = 200;

type Head = Pick<RequestContext, "header">;

export interface SessionCookie {
  /**
   * Refuses a page of another origin (`insufficient_permission`). The use `renew` also needs the headers `Origin` and
   * `x-svc-web: 1` (`bad_request`), which no form can send.
   */
  checkPage(use: WebSessionUse, head: Head): void;
  /** Adds the cookie of the reply's refresh token. An empty token clears the cookie. */
  addTo(reply: CallReply): CallReply;
  /** Clears the cookie if its token cannot be renewed any more. */
  clearIn(use: WebSessionUse, refused: Answer): Answer;
}

export interface SessionCookieOptions {
  readonly baseUrl: string;
  readonly limits: Limits;
}

export function createSessionCookie({ baseUrl, limits }: SessionCookieOptions): SessionCookie {
  const { origin: ownOrigin, protocol } = new URL(baseUrl);
  const isSecure = protocol === "https:";
  const lifeSeconds = Math.floor(Math.max(limits["keep.refreshToken"], limits["keep.accessToken"]) / 1000);

  function toCookie(refreshToken: string): string {
    const maxAge = refreshToken === "" ? 0 : lifeSeconds;
    const text = `${cookieName}=${refreshToken}; Max-Age=${maxAge}; Path=${cookiePath}; HttpOnly; SameSite=Strict`;
    return isSecure ? `${text}; Secure` : text;
  }

  return {
    checkPage(use, head) {
      const origin = head.header("origin");
      if (origin !== undefined && !isOwnPage(head, origin, ownOrigin)) {
        const shown = origin.length > maxShownOrigin ? `${origin.slice(0, maxShownOrigin)}…` : origin;
        throw new AppError(
          "insufficient_permission",
          `The web session is for pages of ${ownOrigin}, and this page is of ${shown}. Other clients sign in at POST /auth/token; the operator sets the address of the service in BASE_URL.`,
        );
      }
      if (use !== "renew") return;
      if (origin === undefined) {
        throw new AppError(
          "insufficient_permission",
          `The header Origin is missing. Only a page of ${ownOrigin} can refresh the web session, and browsers send the header with each POST.`,
        );
      }
      if (head.header("x-svc-web") !== "1") {
        throw new AppError("bad_request", "The header x-svc-web must be 1: it shows that a script of the web app sent the request.");
      }
    },
    addTo(reply) {
      if (reply.refreshCookie === undefined) return reply;
      return { ...reply, headers: { ...reply.headers, "set-cookie": toCookie(reply.refreshCookie) } };
    },
    clearIn(use, refused) {
      if (use !== "renew" || refused.status !== 401) return refused;
      return { ...refused, headers: { ...refused.headers, "set-cookie": toCookie("") } };
    },
  };
}

/**
 * Returns the refresh token of the cookie. Undefined if the cookie is missing, occurs twice, or holds anything but the
 * characters of a token: of two cookies, another host of the domain may have set one.
 */
export function readSessionCookie(head: Head): string | undefined {
  const values: string[] = [];
  for (const pair of (head.header("cookie") ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals !== -1 && pair.slice(0, equals).trim() === cookieName) values.push(pair.slice(equals + 1).trim());
  }
  const [value] = values;
  return values.length === 1 && value !== undefined && /^[\w.-]{1,1000}$/.test(value) ? value : undefined;
}
