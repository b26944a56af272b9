/**
 * Defines the stored records of runs: the run itself and the artifacts of its steps.
 *
 * A run is an actor of `machines/agentRun.ts`; its record contains its steps and approvals. All records are in the
 * partition of the workspace. The timeline of a run is a log.
 */
import type { ArtifactKind, RunStatus } from "../../../../api/schema/run.ts";
import type { RunContext, RunEvent } from "../../../../machines/agentRun.ts";
import type { ActorKind, ActorRecord } from "../../../platform/actors/port.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { IndexKey } from "../../../platform/storage/port.ts";
import { defineRecord } from "../../../platform/storage/recordType.ts";

export type RunRecord = ActorRecord<RunContext>;
export type RunKind = ActorKind<RunContext, RunEvent, "begin" | "execute">;

/** Name of the unique rule that allows one active run for each topic or article. */
export const activeRunRule = "run.active";

const activeStatuses: readonly RunStatus[] = ["queued", "running", "paused_for_approval"];

export function statusOf({ state }: Pick<RunRecord, "state">): RunStatus {
  return state as RunStatus;
}

export function isActive(run: Pick<RunRecord, "state">): boolean {
  return activeStatuses.includes(statusOf(run));
}

/** True if a step of the run writes a file of its article. */
export function writesArticle({ context }: RunRecord): boolean {
  return context.steps.some(({ persistToArticle }) => persistToArticle !== undefined);
}

/**
 * Index lists, ordered by (createdAt, runId) except the active ones, which are ordered by runId. A reverse scan returns
 * the newest first.
 */
export const runLists = {
  all: (workspaceId: string): IndexKey => ["run.workspace", workspaceId],
  ofStatus: (workspaceId: string, status: RunStatus): IndexKey => ["run.status", workspaceId, status],
  ofWorkflow: (workspaceId: string, workflowId: string): IndexKey => ["run.workflow", workspaceId, workflowId],
  ofTopic: (topicId: string): IndexKey => ["run.topic", topicId],
  ofArticle: (articleId: string): IndexKey => ["run.article", articleId],
  activeOfTopic: (topicId: string): IndexKey => ["run.activeOfTopic", topicId],
  activeOfArticle: (articleId: string): IndexKey => ["run.activeOfArticle", articleId],
};

/** Key of the number of runs in a partition with this status. */
export function runCount(status: RunStatus): IndexKey {
  return ["run.count", status];
}

export const runRecord = defineRecord<RunRecord>({
  name: "run",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
  indexes(run) {
    const { workspaceId, workflowId, topicId, articleId, createdAtMs } = run.context;
    const place = [createdAtMs, run.id] as const;
    const keys: IndexKey[] = [
      [...runLists.all(workspaceId), ...place],
      [...runLists.ofStatus(workspaceId, statusOf(run)), ...place],
      [...runLists.ofWorkflow(workspaceId, workflowId), ...place],
    ];
    if (topicId !== undefined) keys.push([...runLists.ofTopic(topicId), ...place]);
    if (articleId !== undefined) keys.push([...runLists.ofArticle(articleId), ...place]);
    if (isActive(run) && topicId !== undefined) keys.push([...runLists.activeOfTopic(topicId), run.id]);
    if (isActive(run) && articleId !== undefined) keys.push([...runLists.activeOfArticle(articleId), run.id]);
    return keys;
  },
  counts: (run) => [runCount(statusOf(run))],
  /** At most one active run for each topic, and for each article without a topic. */
  unique(run) {
    const { topicId, articleId } = run.context;
    if (!isActive(run)) return [];
    if (topicId !== undefined) return [[activeRunRule, topicId]];
    return articleId === undefined ? [] : [[activeRunRule, articleId]];
  },
});

export interface ArtifactRecord {
  readonly runId: string;
  readonly artifactKey: string;
  /** Position among the artifacts of the run, from 1. */
  readonly number: number;
  readonly stepName: string;
  readonly kind: ArtifactKind;
  readonly contentType: string;
  readonly bytes: number;
  /** SHA-256 (hex) of the bytes, under which the store keeps them. */
  readonly sha256: string;
  readonly createdAtMs: number;
}

export function artifactId(runId: string, artifactKey: string): string {
  return `${runId}/${artifactKey}`;
}

export function artifactsOf(runId: string): IndexKey {
  return ["artifact.run", runId];
}

export const artifactRecord = defineRecord<ArtifactRecord>({
  name: "artifact",
  version: 1,
  partitionOf: (key) => partitionOfId(key.slice(0, key.indexOf("/"))),
  keyOf: ({ runId, artifactKey }) => artifactId(runId, artifactKey),
  indexes: ({ runId, artifactKey, number }) => [[...artifactsOf(runId), number, artifactKey]],
  blobs: ({ sha256 }) => [sha256],
});

export const runRecordTypes = [runRecord, artifactRecord] as const;
