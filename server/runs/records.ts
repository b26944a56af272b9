/**
 * What is kept of runs, all of it in the partition of their workspace: the run, an actor of `machines/agentRun.ts`
 * with its steps and approvals inside, and the artifacts its steps made. Their timeline is a log.
 */
import type { ArtifactKind, RunStatus } from "../../api/schema/run.ts";
import type { RunContext } from "../../machines/agentRun.ts";
import type { ActorRecord } from "../actors/port.ts";
import { partitionOfId } from "../ids.ts";
import type { IndexKey } from "../storage/port.ts";
import { defineRecord } from "../storage/recordType.ts";

export type RunRecord = ActorRecord<RunContext>;

/** Name of the unique rule that lets one run at a time be active. */
export const activeRunRule = "run.active";

const activeStatuses: readonly RunStatus[] = ["queued", "running", "paused_for_approval"];

export function statusOf({ state }: Pick<RunRecord, "state">): RunStatus {
  return state as RunStatus;
}

export function isActive(run: Pick<RunRecord, "state">): boolean {
  return activeStatuses.includes(statusOf(run));
}

/** Lists are ordered by (createdAt, runId); read backwards they are newest first. */
export const runLists = {
  all: (workspaceId: string): IndexKey => ["run.workspace", workspaceId],
  ofStatus: (workspaceId: string, status: RunStatus): IndexKey => ["run.status", workspaceId, status],
  ofWorkflow: (workspaceId: string, workflowId: string): IndexKey => ["run.workflow", workspaceId, workflowId],
  ofTopic: (topicId: string): IndexKey => ["run.topic", topicId],
  ofArticle: (articleId: string): IndexKey => ["run.article", articleId],
  activeOfTopic: (topicId: string): IndexKey => ["run.activeOfTopic", topicId],
  activeOfArticle: (articleId: string): IndexKey => ["run.activeOfArticle", articleId],
};

/** Key of the count of runs in a partition by status. */
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
  /** One active run a topic, and one an article where there is no topic. */
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
  /** Place among the artifacts of its run, from 1. */
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
