/**
 * `createRunHandlers` connects the operations of `api/contract/runs.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { runs as contract } from "../../../api/contract/runs.ts";
import type { Approval, Artifact, Run } from "../../../api/schema/run.ts";
import { type Handlers, RawReply } from "../../domain/call/call.ts";
import type { Page } from "../../domain/call/paging.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { ArtifactRecord } from "../../domain/runs/model/records.ts";
import { toArtifactView } from "../../domain/runs/model/runView.ts";
import type { FoundRun } from "../../domain/runs/runQueries.ts";
import type { RunService } from "../../domain/runs/service.ts";
import { pickMediaType } from "../calls/mediaTypes.ts";

/** Media type of an artifact's metadata. `application/json` is not used, because the artifact's own bytes may be JSON. */
const factsMediaType = "application/vnd.svc.artifact+json";

type RunServices = Pick<RunService, "runs" | "approvals">;

export function createRunHandlers({ runs, approvals }: RunServices): Handlers<{ runs: typeof contract }>["runs"] {
  return {
    list: {
      serve: ({ params, query }) => runs.list(params.workspaceId, query),
      reply: ({ items, ...rest }: Page<Run>) => ({ status: 200, body: { runs: items, ...rest } }),
    },
    get: {
      serve: ({ params }) => runs.get(params.runId),
      reply: ({ run, revision }: FoundRun) => ({ status: 200, headers: { etag: recordEtag(revision) }, body: run }),
    },
    cancel: {
      serve: ({ params, body }, call) => runs.cancel(call, params.runId, body),
      reply: (body: Run) => ({ status: 202, body }),
    },
    retry: {
      serve: ({ params, body }, call) => runs.retry(call, params.runId, body),
      reply: (body: Run) => ({ status: 202, body }),
    },
    approvals: {
      serve: ({ params, query }, call) => approvals.list(call, params.runId, query),
      reply: ({ items, ...rest }: Page<Approval>) => ({ status: 200, body: { approvals: items, ...rest } }),
    },
    resolveApproval: {
      serve: ({ params, body }, call) => approvals.resolve(call, params.runId, params.approvalId, body),
      reply: (body: Approval) => ({ status: 200, body }),
    },
    artifacts: {
      serve: ({ params, query }) => runs.artifacts(params.runId, query),
      reply: ({ items, ...rest }: Page<ArtifactRecord>) => ({ status: 200, body: { artifacts: items.map(toArtifactView), ...rest } }),
    },
    artifact: {
      async serve({ params, accept }): Promise<Artifact | RawReply> {
        const { artifact, bytes } = await runs.artifact(params.runId, params.artifactKey);
        const mediaType = pickMediaType(accept, [artifact.contentType, "application/octet-stream", factsMediaType]);
        return mediaType === factsMediaType ? toArtifactView(artifact) : new RawReply(mediaType, await bytes());
      },
      reply: (body: Artifact | RawReply) => ({ status: 200, headers: { vary: "accept" }, body }),
    },
    events: {
      serve: ({ params, query }, call) => runs.events(call, params.runId, query),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
