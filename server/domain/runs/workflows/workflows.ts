/** Lists and finds the workflows of a workspace in the shapes of the API. */
import type { z } from "zod";
import { notFound } from "../../../../api/schema/error.ts";
import type { GetWorkflowResponse, ListWorkflowsResponse } from "../../../../api/schema/workflow.ts";
import { builtInWorkflows, findBuiltInWorkflow, type Workflow } from "./builtInWorkflows.ts";

export interface Workflows {
  list(filter: { readonly userVisible?: boolean | undefined }): z.output<typeof ListWorkflowsResponse>;
  get(workflowId: string): GetWorkflowResponse;
  find(workflowId: string): Workflow;
}

export function createWorkflows(): Workflows {
  function find(workflowId: string): Workflow {
    const workflow = findBuiltInWorkflow(workflowId);
    if (workflow === undefined) throw notFound();
    return workflow;
  }

  return {
    list({ userVisible }) {
      const shown = builtInWorkflows.filter((workflow) => userVisible === undefined || workflow.userVisible === userVisible);
      return {
        workflows: shown.map(({ id, title, description, steps, version, userVisible: visible, costClass, isDefault }) => ({
          id,
          name: id,
          title,
          description,
          source: "system",
          steps: steps.map(({ name }) => name),
          version,
          userVisible: visible,
          costClass,
          isDefault,
        })),
      };
    },
    get(workflowId) {
      const { id, description, version, steps } = find(workflowId);
      return { id, name: id, description, version, source: "system", steps: [...steps] };
    },
    find,
  };
}
