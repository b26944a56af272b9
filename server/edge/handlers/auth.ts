/**
 * `createAuthHandlers` connects the operations of `api/contract/auth.ts` to their services.
 *
 * The contract says how results become replies. Rules of
 * the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { TokenResponse } from "../../../api/schema/account.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import type { OwnAccount } from "../../domain/identity/accounts/me.ts";
import type { Setup } from "../../domain/identity/accounts/setup.ts";
import type { Sessions } from "../../domain/identity/auth/sessions.ts";
import type { StreamTickets } from "../../domain/identity/auth/streamTickets.ts";
import type { WebSessions } from "../../domain/identity/auth/webSessions.ts";

export interface AuthServices {
  readonly sessions: Sessions;
  readonly webSessions: WebSessions;
  readonly setup: Setup;
  readonly tickets: Pick<StreamTickets, "issue">;
  readonly ownAccount: OwnAccount;
}

export function createAuthHandlers({ sessions, webSessions, setup, tickets, ownAccount }: AuthServices): Handlers<AppContract>["auth"] {
  return {
    token: ({ body }, call) => sessions.token(call, body),
    setup: ({ body }, call) => setup.complete(call, body),
    logout: (_request, call) => sessions.logout(call),
    openWebSession: {
      serve: ({ body, refreshCookie }, call) => webSessions.open(call, body, refreshCookie),
      reply: toWebReply,
    },
    renewWebSession: {
      serve: ({ refreshCookie }, call) => webSessions.renew(call, refreshCookie),
      reply: toWebReply,
    },
    endWebSession: {
      serve: ({ refreshCookie }) => webSessions.end(refreshCookie),
      reply: () => ({ status: 204, refreshCookie: "" }),
    },
    streamTicket: ({ body }, call) => tickets.issue(call, body.resource),
    me: (_request, call) => ownAccount.get(call),
    updateMe: ({ body }, call) => ownAccount.update(call, body),
  };
}

/** The refresh token is in the cookie only. */
function toWebReply({ accessToken, expiresIn, refreshToken }: TokenResponse): CallReply {
  return { status: 200, refreshCookie: refreshToken, body: { accessToken, expiresIn } };
}
