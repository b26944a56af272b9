/**
 * `createWorkflowHandlers` connects the operations of `api/contract/workflows.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { workflows as contract } from "../../../api/contract/workflows.ts";
import type { Run } from "../../../api/schema/run.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { RunService } from "../../domain/runs/service.ts";

export function createWorkflowHandlers({
  workflows,
  runs,
}: Pick<RunService, "workflows" | "runs">): Handlers<{ workflows: typeof contract }>["workflows"] {
  return {
    list: {
      serve: async ({ query }) => workflows.list(query),
      reply: (body) => ({ status: 200, body }),
    },
    get: {
      serve: async ({ params }) => workflows.get(params.workflowId),
      reply: (body) => ({ status: 200, body }),
    },
    run: {
      serve: ({ params, body }, call) => runs.start(call, params.workflowId, body),
      reply: (run: Run) => ({ status: 202, headers: { location: `/runs/${run.runId}` }, body: run }),
    },
  };
}
