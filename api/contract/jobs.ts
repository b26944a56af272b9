import { z } from "zod";
import { JobId } from "../schema/id.ts";
import { Job } from "../schema/job.ts";
import { operation } from "./operation.ts";
import { etag } from "./resource.ts";

export const jobs = {
  get: operation({
    method: "GET",
    path: "/jobs/{jobId}",
    params: z.strictObject({ jobId: JobId }),
    replies: { 200: Job },
    replyHeaders: etag,
    credential: "any",
    scopes: ["workspaces:read"],
    resource: { kind: "job", in: "params", name: "jobId" },
    role: "read",
    summary: "Get a job",
    description:
      "The state and the progress of work that a request has started. The entity tag changes with both, so a client that waits sends `If-None-Match`. A job goes on after a restart of the server. It can be read for 30 days after its end.",
  }),
} as const;
