/** Answers the operations of `api/contract/accounts.ts`. */
import type { AppContract } from "../../api/contract/contract.ts";
import type { CreatedAccount } from "../../api/schema/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Handlers } from "../calls/call.ts";

export function createAccountHandlers({ accounts }: { readonly accounts: Accounts }): Handlers<AppContract>["accounts"] {
  return {
    create: {
      serve: ({ body }, call) => accounts.create(call, body),
      reply: (body: CreatedAccount) => ({ status: 201, headers: { location: `/accounts/${body.username}` }, body }),
    },
    list: {
      serve: ({ query }) => accounts.list(query),
      reply: (body) => ({ status: 200, body }),
    },
    update: {
      serve: ({ params, body }, call) => accounts.update(call, params.username, body),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
