/**
 * `createAuthHandlers` connects the operations of `api/contract/auth.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Account } from "../../../api/schema/account.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { OwnAccount } from "../../domain/identity/accounts/me.ts";
import type { Setup } from "../../domain/identity/accounts/setup.ts";
import type { Sessions } from "../../domain/identity/auth/sessions.ts";
import type { StreamTickets } from "../../domain/identity/auth/streamTickets.ts";

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
      // The new user may not read `/accounts`, but can read the own account at `/auth/me` after signing in.
      reply: (body: Account) => ({ status: 201, headers: { location: "/auth/me" }, body }),
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
