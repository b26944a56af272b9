/**
 * `createAccountHandlers` connects the operations of `api/contract/accounts.ts` to their services.
 *
 * The contract says how results become replies. Rules of
 * the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import { type Handlers, Versioned } from "../../domain/call/call.ts";
import type { Accounts } from "../../domain/identity/accounts/accounts.ts";

export function createAccountHandlers({ accounts }: { readonly accounts: Accounts }): Handlers<AppContract>["accounts"] {
  return {
    create: ({ body }, call) => accounts.create(call, body),
    list: ({ query }) => accounts.list(query),
    get: ({ params }) => accounts.get(params.username).then(({ account, revision }) => new Versioned(account, revision)),
    update: ({ params, body }, call) => accounts.update(call, params.username, body),
  };
}
