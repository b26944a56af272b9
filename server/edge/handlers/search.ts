/** `createSearchHandler` connects the search of `api/contract/workspaces.ts` to its service. */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { Search, SearchAnswer } from "../../domain/search/search.ts";

export function createSearchHandler(search: Search): Handlers<AppContract>["workspaces"]["search"] {
  return {
    serve: ({ params, query }, call) => search({ ...params, ...query }, call),
    reply: ({ hits, state }: SearchAnswer) => ({ status: 200, headers: { "x-svc-search-state": state }, body: { hits } }),
  };
}
