/** Defines the stored record of jobs: actors of `machines/job.ts`. This module reads and writes nothing. */
import type { JobContext } from "../../../machines/job.ts";
import type { ActorRecord } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";

/** The actor's id is the job id, and its state is the job's status. */
export type JobRecord = ActorRecord<JobContext>;

export const jobRecord = defineRecord<JobRecord>({
  name: "job",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (job) => job.id,
  expiresAtMs: ({ context }) => context.expiresAtMs,
});

export const jobRecordTypes = [jobRecord] as const;
