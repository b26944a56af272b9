/**
 * What is kept of workspaces. The workspace record decides who may do what; `membership` is only the
 * account's way to its workspaces, a projection that may lag and is checked against the record when used.
 */
import type { MemberRole } from "../../api/schema/workspace.ts";
import { partitionOfId } from "../ids.ts";
import type { Json, RecordWrite, Stored } from "../storage/port.ts";
import { defineRecord } from "../storage/recordType.ts";

export interface MemberRow {
  readonly accountId: string;
  /** Usernames never change, so the copy cannot go stale. */
  readonly username: string;
  readonly role: MemberRole;
}

export type CounterName = "article" | "project" | "brief";

export interface WorkspaceRecord {
  readonly workspaceId: string;
  readonly name: string;
  readonly type: "user" | "team";
  /** Account id; the member with role `owner`. */
  readonly owner: string;
  readonly members: readonly MemberRow[];
  /** Only records that were imported carry one. */
  readonly displayName?: string;
  readonly settings?: { readonly [key: string]: Json };
  /** The highest number given out of each kind. */
  readonly counters: Readonly<Record<CounterName, number>>;
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

/** The next number of a counter, and the write that gives it out: it goes into the commit that uses the number. */
export function withNextCounter(stored: Stored<WorkspaceRecord>, counter: CounterName): { number: number; write: RecordWrite } {
  const number = stored.value.counters[counter] + 1;
  const value = { ...stored.value, counters: { ...stored.value.counters, [counter]: number } };
  const write: RecordWrite<WorkspaceRecord> = { op: "put", type: workspaceRecord, value, replacing: stored };
  return { number, write: write as RecordWrite };
}

export interface MembershipRecord {
  readonly accountId: string;
  readonly workspaceId: string;
  /** `createdAt` of the workspace, by which lists are ordered. */
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

export const workspaceRecordTypes = [workspaceRecord, membershipRecord];
