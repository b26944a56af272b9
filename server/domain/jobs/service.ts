/** Builds the jobs domain: the operation that shows a job, and the effect that does the work of all kinds. */
import type { jobs as contract } from "../../../api/contract/jobs.ts";
import { notFound } from "../../../api/schema/error.ts";
import type { Job, JobStatus } from "../../../api/schema/job.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { type Handlers, Versioned } from "../call/call.ts";
import { present } from "../call/present.ts";
import { type JobKind, provideJobEffects } from "./jobKind.ts";
import type { JobWork } from "./port.ts";
import { type JobRecord, jobRecord } from "./records.ts";

export interface JobServiceOptions {
  readonly storage: Pick<Storage, "records">;
  readonly kind: JobKind;
  /** The work of every kind of job. */
  readonly works: readonly JobWork[];
}

export interface JobService {
  /** The handlers of the operations on jobs. */
  readonly jobs: Handlers<{ jobs: typeof contract }>["jobs"];
  readonly manifest: Manifest;
}

function toJob({ id, state, context }: JobRecord): Job {
  const { kind, done, of, createdAtMs, finishedAtMs, error, result } = context;
  return {
    jobId: id,
    kind,
    status: state as JobStatus,
    progress: { done, of },
    createdAt: createdAtMs / 1000,
    ...(finishedAtMs === undefined ? {} : { finishedAt: finishedAtMs / 1000 }),
    ...present({ error, result: result as Job["result"] }),
  };
}

export function createJobService({ storage, kind, works }: JobServiceOptions): JobService {
  return {
    jobs: {
      async get({ params }) {
        const job = await storage.records.get(jobRecord, params.jobId);
        if (job === undefined) throw notFound();
        return new Versioned(toJob(job.value), job.revision);
      },
    },
    manifest: { name: "jobs", actorKinds: [provideJobEffects(kind, works)] },
  };
}
