/**
 * `createWorkspaceHandlers` connects the operations of `api/contract/workspaces.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { liveEtag } from "../../domain/call/precondition.ts";
import type { FoundWorkspace, Workspaces } from "../../domain/identity/workspaces/workspaces.ts";

/** The search has a service of its own (`search.ts`). */
export function createWorkspaceHandlers({
  workspaces,
}: {
  readonly workspaces: Workspaces;
}): Omit<Handlers<AppContract>["workspaces"], "search"> {
  return {
    create: ({ body }, call) => workspaces.create(call, body),
    list: ({ query }, call) => workspaces.list(call, query),
    get: {
      serve: ({ params }, call) => workspaces.get(call, params.workspaceId),
      reply: ({ workspace, revision, countersRevision }: FoundWorkspace) => ({
        status: 200,
        headers: { etag: liveEtag(countersRevision, revision) },
        body: workspace,
      }),
    },
    update: ({ params, body }, call) => workspaces.update(call, params.workspaceId, body),
  };
}
