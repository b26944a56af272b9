/**
 * `createAccountHandlers` connects the operations of `api/contract/accounts.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CreatedAccount } from "../../../api/schema/account.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { Accounts, FoundAccount } from "../../domain/identity/accounts/accounts.ts";

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
    get: {
      serve: ({ params }) => accounts.get(params.username),
      reply: ({ account, revision }: FoundAccount) => ({ status: 200, headers: { etag: recordEtag(revision) }, body: account }),
    },
    update: {
      serve: ({ params, body }, call) => accounts.update(call, params.username, body),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
