/**
 * This module defines the stored records of workspaces.
 *
 * The workspace record decides who may do what. `membership` only lists the workspaces of an account: it is a
 * projection that may lag and is checked against the workspace record when used. Counters have a separate record
 * because every new article and topic changes them. In the workspace record they would fail each change of settings
 * under `If-Match`.
 */
import type { MemberRole } from "../../../../api/schema/workspace.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Json, RecordWrite, Storage, Stored } from "../../../platform/storage/port.ts";
import { defineRecord } from "../../../platform/storage/recordType.ts";

export interface MemberRow {
  readonly accountId: string;
  /** A copy. It cannot become stale because usernames never change. */
  readonly username: string;
  readonly role: MemberRole;
}

export type CounterName = "article" | "project" | "brief";
export type Counters = Readonly<Record<CounterName, number>>;

export interface WorkspaceRecord {
  readonly workspaceId: string;
  readonly name: string;
  readonly type: "user" | "team";
  /** Account id of the member with role `owner`. */
  readonly owner: string;
  readonly members: readonly MemberRow[];
  /** Only imported records have one. */
  readonly displayName?: string;
  readonly settings?: { readonly [key: string]: Json };
  /** Counters from the time before they had a separate record. Later numbers continue from here. */
  readonly counters?: Counters;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const workspaceRecord = defineRecord<WorkspaceRecord>({
  name: "workspace",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.workspaceId,
});

/** The highest assigned number of each kind. The record is created with the first number. */
export interface WorkspaceCountersRecord {
  readonly workspaceId: string;
  readonly counters: Counters;
}

export const workspaceCountersRecord = defineRecord<WorkspaceCountersRecord>({
  name: "workspaceCounters",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.workspaceId,
});

const noNumbers: Counters = { article: 0, project: 0, brief: 0 };

export function countersOf(workspace: WorkspaceRecord, stored: Stored<WorkspaceCountersRecord> | undefined): Counters {
  return stored?.value.counters ?? workspace.counters ?? noNumbers;
}

/** Returns the next number of a counter and the write that assigns it. Add the write to the commit that uses the number. */
export async function withNextCounter(
  storage: Pick<Storage, "records">,
  workspace: WorkspaceRecord,
  counter: CounterName,
): Promise<{ readonly number: number; readonly write: RecordWrite }> {
  const { workspaceId } = workspace;
  const stored = await storage.records.get(workspaceCountersRecord, workspaceId);
  const counters = countersOf(workspace, stored);
  const number = counters[counter] + 1;
  const write: RecordWrite<WorkspaceCountersRecord> = {
    op: "put",
    type: workspaceCountersRecord,
    value: { workspaceId, counters: { ...counters, [counter]: number } },
    replacing: stored ?? null,
  };
  return { number, write: write as RecordWrite };
}

export interface MembershipRecord {
  readonly accountId: string;
  readonly workspaceId: string;
  /** `createdAt` of the workspace, which is the order of lists. */
  readonly workspaceCreatedAt: number;
}

export function membershipKey(accountId: string, workspaceId: string): string {
  return `${accountId}/${workspaceId}`;
}

export const membershipRecord = defineRecord<MembershipRecord>({
  name: "membership",
  version: 1,
  partitionOf: (key) => partitionOfId(key.slice(0, key.indexOf("/"))),
  keyOf: (value) => membershipKey(value.accountId, value.workspaceId),
  indexes: (value) => [["membership.account", value.accountId, value.workspaceCreatedAt, value.workspaceId]],
  counts: (value) => [["membership.account", value.accountId]],
});

export const workspaceRecordTypes = [workspaceRecord, workspaceCountersRecord, membershipRecord];
