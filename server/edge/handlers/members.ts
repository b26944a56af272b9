/**
 * `createMemberHandlers` connects the operations of `api/contract/members.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { AddedMember, Members } from "../../domain/identity/accounts/members.ts";

export function createMemberHandlers({ members }: { readonly members: Members }): Handlers<AppContract>["members"] {
  return {
    list: ({ params, query }, call) => members.list(call, params.workspaceId, query),
    add: {
      serve: ({ params, body }, call) => members.add(call, params.workspaceId, body),
      reply: ({ workspaceId, member }: AddedMember) => ({
        status: 201,
        headers: { location: `/workspaces/${workspaceId}/members/${member.username}` },
        body: member,
      }),
    },
    get: ({ params }, call) => members.get(call, params.workspaceId, params.username),
    update: ({ params, body }, call) => members.update(call, params.workspaceId, params.username, body.role),
    remove: ({ params }, call) => members.remove(call, params.workspaceId, params.username),
  };
}
