/** Answers the operations of `api/contract/runs.ts`. */
import type { runs as contract } from "../../api/contract/runs.ts";
import type { Approval, Artifact, Run } from "../../api/schema/run.ts";
import { type Handlers, RawReply } from "../calls/call.ts";
import type { Page } from "../calls/paging.ts";
import { recordEtag } from "../calls/precondition.ts";
import type { ArtifactRecord } from "../runs/records.ts";
import type { FoundRun } from "../runs/runs.ts";
import { toArtifactView } from "../runs/runView.ts";
import type { RunService } from "../runs/service.ts";

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
        if (accept === "application/json") return toArtifactView(artifact);
        // Text is what somebody gets who asked for nothing in particular, whatever sort of text it is.
        const contentType = accept === "application/octet-stream" ? accept : artifact.contentType;
        return new RawReply(contentType, await bytes());
      },
      reply: (body: Artifact | RawReply) => ({ status: 200, headers: { vary: "accept" }, body }),
    },
    events: {
      serve: ({ params, query }, call) => runs.events(call, params.runId, query),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
