/**
 * `createMemberHandlers` connects the operations of `api/contract/members.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { AddedMember, Members } from "../../domain/identity/accounts/members.ts";

export function createMemberHandlers({ members }: { readonly members: Members }): Handlers<AppContract>["members"] {
  return {
    list: {
      serve: ({ params, query }, call) => members.list(call, params.workspaceId, query),
      reply: (body) => ({ status: 200, body }),
    },
    add: {
      serve: ({ params, body }, call) => members.add(call, params.workspaceId, body),
      reply: ({ workspaceId, member }: AddedMember) => ({
        status: 201,
        headers: { location: `/workspaces/${workspaceId}/members/${member.username}` },
        body: member,
      }),
    },
    get: {
      serve: ({ params }, call) => members.get(call, params.workspaceId, params.username),
      reply: (body) => ({ status: 200, body }),
    },
    update: {
      serve: ({ params, body }, call) => members.update(call, params.workspaceId, params.username, body.role),
      reply: (body) => ({ status: 200, body }),
    },
    remove: {
      serve: ({ params }, call) => members.remove(call, params.workspaceId, params.username),
      reply: () => ({ status: 204 }),
    },
  };
}
