/** Answers the operations of `api/contract/auth.ts`. */
import type { AppContract } from "../../api/contract/contract.ts";
import type { Account } from "../../api/schema/account.ts";
import type { OwnAccount } from "../accounts/me.ts";
import type { Setup } from "../accounts/setup.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { StreamTickets } from "../auth/streamTickets.ts";
import type { Handlers } from "../calls/call.ts";

export interface AuthServices {
  readonly sessions: Sessions;
  readonly setup: Setup;
  readonly tickets: Pick<StreamTickets, "issue">;
  readonly ownAccount: OwnAccount;
}

export function createAuthHandlers({ sessions, setup, tickets, ownAccount }: AuthServices): Handlers<AppContract>["auth"] {
  return {
    token: {
      serve: ({ body }, call) => sessions.token(call, body),
      reply: (body) => ({ status: 200, body }),
    },
    setup: {
      serve: ({ body }, call) => setup.complete(call, body),
      reply: (body: Account) => ({ status: 201, headers: { location: `/accounts/${body.username}` }, body }),
    },
    logout: {
      serve: (_request, call) => sessions.logout(call),
      reply: () => ({ status: 204 }),
    },
    streamTicket: {
      serve: ({ body }, call) => tickets.issue(call, body.resource),
      reply: (body) => ({ status: 201, body }),
    },
    me: {
      serve: (_request, call) => ownAccount.get(call),
      reply: (body) => ({ status: 200, body }),
    },
    updateMe: {
      serve: ({ body }, call) => ownAccount.update(call, body),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
