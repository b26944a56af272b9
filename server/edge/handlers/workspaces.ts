/**
 * `createWorkspaceHandlers` connects the operations of `api/contract/workspaces.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CreateWorkspaceResponse } from "../../../api/schema/workspace.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { liveEtag } from "../../domain/call/precondition.ts";
import type { FoundWorkspace, Workspaces } from "../../domain/identity/workspaces/workspaces.ts";

export function createWorkspaceHandlers({ workspaces }: { readonly workspaces: Workspaces }): Handlers<AppContract>["workspaces"] {
  return {
    create: {
      serve: ({ body }, call) => workspaces.create(call, body),
      reply: (body: CreateWorkspaceResponse) => ({ status: 201, headers: { location: `/workspaces/${body.workspaceId}` }, body }),
    },
    list: {
      serve: ({ query }, call) => workspaces.list(call, query),
      reply: (body) => ({ status: 200, body }),
    },
    get: {
      serve: ({ params }, call) => workspaces.get(call, params.workspaceId),
      reply: ({ workspace, revision, countersRevision }: FoundWorkspace) => ({
        status: 200,
        headers: { etag: liveEtag(countersRevision, revision) },
        body: workspace,
      }),
    },
    update: {
      serve: ({ params, body }, call) => workspaces.update(call, params.workspaceId, body),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
