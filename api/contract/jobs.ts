import { z } from "zod";
import { JobId } from "../schema/id.ts";
import { Job } from "../schema/job.ts";
import { operation } from "./operation.ts";

export const jobs = {
  get: operation({
    method: "GET",
    path: "/jobs/{jobId}",
    params: z.strictObject({ jobId: JobId }),
    replies: { 200: Job },
    credential: "any",
    scopes: ["workspaces:read"],
    resource: { kind: "job", in: "params", name: "jobId" },
    role: "read",
    summary: "Get a job",
    description:
      "The state and the progress of work that a request has started. A job goes on after a restart of the server. It can be read for 30 days after its end.",
  }),
} as const;
