/**
 * `createWorkflowHandlers` connects the operations of `api/contract/workflows.ts` to their services.
 *
 * The contract says how results become replies. Rules of
 * the domain do not belong here.
 */
import type { workflows as contract } from "../../../api/contract/workflows.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { RunService } from "../../domain/runs/service.ts";

type WorkflowServices = Pick<RunService, "workflows" | "runs">;

export function createWorkflowHandlers({ workflows, runs }: WorkflowServices): Handlers<{ workflows: typeof contract }>["workflows"] {
  return {
    list: async ({ query }) => workflows.list(query),
    get: async ({ params }) => workflows.get(params.workflowId),
    run: ({ params, body }, call) => runs.start(call, params.workflowId, body),
  };
}
