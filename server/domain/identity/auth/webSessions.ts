/**
 * This module signs people in to the service's own web app, whose refresh token is in a cookie that all tabs share.
 *
 * The sessions are those of `sessions.ts`. This module must not know the cookie: it receives and returns its token.
 */
import type { OpenWebSessionRequest, TokenResponse } from "../../../../api/schema/account.ts";
import { AppError } from "../../../../api/schema/error.ts";
import type { Call } from "../../call/call.ts";
import type { Sessions } from "./sessions.ts";

export interface WebSessions {
  /** Signs in. Ends the session of `replaced`, the token in the browser, because nothing could refresh or end it later. */
  open(call: Pick<Call, "ids" | "limits">, request: OpenWebSessionRequest, replaced: string | undefined): Promise<TokenResponse>;
  /** Throws `unauthenticated` or `token_expired` if the token is missing or its session has ended. */
  renew(call: Pick<Call, "limits">, refreshToken: string | undefined): Promise<TokenResponse>;
  /** Signs out. Does nothing without a session. */
  end(refreshToken: string | undefined): Promise<void>;
}

export function createWebSessions(sessions: Pick<Sessions, "token" | "refreshShared" | "endByToken">): WebSessions {
  return {
    async open(call, { username, password }, replaced) {
      const tokens = await sessions.token(call, { grantType: "password", username, password });
      if (replaced !== undefined) await sessions.endByToken(replaced, "replaced by a sign-in");
      return tokens;
    },
    async renew(call, refreshToken) {
      if (refreshToken === undefined) {
        throw new AppError("unauthenticated", "The request has no single valid cookie svc_session. Sign in at POST /auth/web-session.");
      }
      return sessions.refreshShared(call, refreshToken);
    },
    async end(refreshToken) {
      if (refreshToken !== undefined) await sessions.endByToken(refreshToken, "logout");
    },
  };
}
