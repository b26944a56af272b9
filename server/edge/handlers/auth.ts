/**
 * `createAuthHandlers` connects the operations of `api/contract/auth.ts` to their services.
 *
 * The contract says how results become replies. Rules of
 * the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
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
    token: ({ body }, call) => sessions.token(call, body),
    setup: ({ body }, call) => setup.complete(call, body),
    logout: (_request, call) => sessions.logout(call),
    streamTicket: ({ body }, call) => tickets.issue(call, body.resource),
    me: (_request, call) => ownAccount.get(call),
    updateMe: ({ body }, call) => ownAccount.update(call, body),
  };
}
