/**
 * Defines the schema of jobs: long work that a request has started and that goes on after its answer (api decisions,
 * D23). The schema refuses unknown fields.
 */
import { z } from "zod";
import { int, text, unixSeconds } from "./common.ts";
import { idText } from "./id.ts";

export const JobStatus = z.enum(["queued", "running", "succeeded", "failed"]).meta({
  id: "JobStatus",
  description: "State of a job. `queued`: nothing is done yet. `succeeded` and `failed` are final.",
});
export type JobStatus = z.infer<typeof JobStatus>;

export const Job = z
  .strictObject({
    jobId: idText("job", "Id of the job."),
    kind: text("Kind of work. Clients must expect kinds that they do not know.", "folder.delete"),
    status: JobStatus,
    progress: z
      .strictObject({
        done: int("Number of items that are done.", 150),
        of: int("Number of items that the job expects to do in all. It grows if the job finds more.", 4000),
      })
      .describe("Progress of the job, in the items of its kind."),
    createdAt: unixSeconds("When the job was created."),
    finishedAt: unixSeconds("When the job ended. Absent while it is queued or running.").optional(),
    error: z
      .strictObject({
        code: text("Reason as a code.", "step_failed"),
        message: text("Reason as text.", "The work could not be finished."),
      })
      .describe("Reason why the job failed.")
      .optional(),
    result: z
      .record(z.string(), z.json())
      .meta({ description: "Result of a job that succeeded, by its kind.", example: { folders: 3, articles: 40, topics: 2 } })
      .optional(),
  })
  .meta({ id: "Job", description: "Long work that a request has started." });
export type Job = z.infer<typeof Job>;

export const JobStarted = z
  .strictObject({ jobId: idText("job", "The job that does the rest; read it with `GET /jobs/{jobId}`.") })
  .meta({ id: "JobStarted", description: "The job that a request has started." });
export type JobStarted = z.infer<typeof JobStarted>;
