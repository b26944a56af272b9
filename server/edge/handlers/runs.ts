/**
 * `createRunHandlers` connects the operations of `api/contract/runs.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { runs as contract } from "../../../api/contract/runs.ts";
import type { Artifact } from "../../../api/schema/run.ts";
import { type Handlers, RawReply, Versioned } from "../../domain/call/call.ts";
import { toArtifactView } from "../../domain/runs/model/runView.ts";
import type { RunService } from "../../domain/runs/service.ts";
import { pickMediaType } from "../calls/mediaTypes.ts";

/** Media type of an artifact's metadata. `application/json` is not used, because the artifact's own bytes may be JSON. */
const factsMediaType = "application/vnd.svc.artifact+json";

type RunServices = Pick<RunService, "runs" | "approvals">;

export function createRunHandlers({ runs, approvals }: RunServices): Handlers<{ runs: typeof contract }>["runs"] {
  return {
    list: ({ params, query }) => runs.list(params.workspaceId, query),
    get: ({ params }) => runs.get(params.runId).then(({ run, revision }) => new Versioned(run, revision)),
    cancel: ({ params, body }, call) => runs.cancel(call, params.runId, body),
    retry: ({ params, body }, call) => runs.retry(call, params.runId, body),
    approvals: ({ params, query }, call) => approvals.list(call, params.runId, query),
    resolveApproval: ({ params, body }, call) => approvals.resolve(call, params.runId, params.approvalId, body),
    artifacts: async ({ params, query }) => {
      const { items, ...rest } = await runs.artifacts(params.runId, query);
      return { items: items.map(toArtifactView), ...rest };
    },
    artifact: {
      async serve({ params, accept }): Promise<Artifact | RawReply> {
        const { artifact, bytes } = await runs.artifact(params.runId, params.artifactKey);
        const mediaType = pickMediaType(accept, [artifact.contentType, "application/octet-stream", factsMediaType]);
        return mediaType === factsMediaType ? toArtifactView(artifact) : new RawReply(mediaType, await bytes());
      },
      reply: (body: Artifact | RawReply) => ({ status: 200, headers: { vary: "accept" }, body }),
    },
    events: ({ params, query }, call) => runs.events(call, params.runId, query),
  };
}
