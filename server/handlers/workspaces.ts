/** Answers the operations of `api/contract/workspaces.ts`. */
import type { AppContract } from "../../api/contract/contract.ts";
import type { CreateWorkspaceResponse, Workspace } from "../../api/schema/workspace.ts";
import type { Handlers } from "../calls/call.ts";
import { recordEtag } from "../calls/precondition.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";

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
      reply: ({ workspace, revision }: { workspace: Workspace; revision: number }) => ({
        status: 200,
        headers: { etag: recordEtag(revision) },
        body: workspace,
      }),
    },
    update: {
      serve: ({ params, body }, call) => workspaces.update(call, params.workspaceId, body),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
