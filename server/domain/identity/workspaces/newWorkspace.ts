/**
 * This module builds the records of a new workspace: the workspace with its owner as the only member, and the owner's
 * membership.
 */
import type { Json, RecordWrite } from "../../../platform/storage/port.ts";
import { type MembershipRecord, membershipRecord, type WorkspaceRecord, workspaceRecord } from "./records.ts";

export interface NewWorkspace {
  readonly workspaceId: string;
  readonly name: string;
  readonly type: "user" | "team";
  readonly owner: { readonly accountId: string; readonly username: string };
  readonly settings?: { readonly [key: string]: Json } | undefined;
  readonly nowMs: number;
}

/** `membership` may join `records` in one commit only when the workspace is in the partition of its owner. */
export function toNewWorkspace({ workspaceId, name, type, owner, settings, nowMs }: NewWorkspace): {
  readonly workspace: WorkspaceRecord;
  readonly records: readonly RecordWrite[];
  readonly membership: RecordWrite;
} {
  const workspace: WorkspaceRecord = {
    workspaceId,
    name,
    type,
    owner: owner.accountId,
    members: [{ accountId: owner.accountId, username: owner.username, role: "owner" }],
    ...(settings === undefined ? {} : { settings }),
    createdAt: nowMs / 1000,
    updatedAt: nowMs / 1000,
  };
  const membership: MembershipRecord = { accountId: owner.accountId, workspaceId, workspaceCreatedAt: workspace.createdAt };
  const put: RecordWrite<WorkspaceRecord> = { op: "put", type: workspaceRecord, value: workspace, replacing: null };
  const putMembership: RecordWrite<MembershipRecord> = { op: "put", type: membershipRecord, value: membership, replacing: null };
  return { workspace, records: [put as RecordWrite], membership: putMembership as RecordWrite };
}
