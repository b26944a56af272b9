/**
 * This module keeps the `membership` projection (account to workspaces) consistent with the workspace records.
 *
 * The commit that changes the members also schedules a due row, leased to this node, and this node updates the
 * projection at once. If the node fails first, the row becomes due and any node does the work. The projection is
 * written under the revision that was read before the workspace. Of two concurrent runs, the one that read the older
 * workspace therefore gets a conflict and reads again.
 */
import type { Logger } from "pino";
import { type DueWorker, defineDueKind } from "../../../platform/actors/duePort.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { DueWrite, RecordWrite, Storage, Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import { type MembershipRecord, membershipKey, membershipRecord, type WorkspaceRecord, workspaceRecord } from "./records.ts";

const projectRows = defineDueKind<Pick<MembershipChange, "workspaceId" | "accountId">>("membership.project");
/** Fence of a due row that no other node has leased yet. */
const firstFence = 1;

export interface MembershipChange {
  readonly workspaceId: string;
  readonly accountId: string;
  /** Revision of the workspace record after the change. */
  readonly revision: number;
}

export interface Memberships {
  /** Returns the due row to add to the commit that changes the members. */
  armed(change: MembershipChange): DueWrite;
  /** Updates the projection after that commit. On failure, the due row does it later. */
  project(change: MembershipChange): Promise<void>;
  /** Workers for the due pump, by kind of due row. */
  readonly workers: Readonly<Record<string, DueWorker>>;
}

export interface MembershipsOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly leaseMs: number;
  readonly log: Logger;
}

function rowId({ workspaceId, accountId, revision }: MembershipChange): string {
  return `membership/${workspaceId}/${accountId}/${revision}`;
}

export function createMemberships({ storage, leaseMs, log }: MembershipsOptions): Memberships {
  function updateProjection(workspaceId: string, accountId: string): Promise<void> {
    const next = async () => {
      // The order matters: a workspace that is read before the projection could be older than the projection.
      const projected = await storage.records.get(membershipRecord, membershipKey(accountId, workspaceId));
      const workspace = (await storage.records.get(workspaceRecord, workspaceId))?.value;
      return toWrite(projected, workspace, workspaceId, accountId);
    };
    return retryOnConflict("membership.project", async () => {
      const write = await next();
      if (write === undefined) return undefined;
      const result = await storage.commit({ partition: partitionOfId(accountId), records: [write] });
      // The members may have changed between the read and the commit. Their own run may have found nothing to do then.
      return result.ok && (await next()) === undefined ? undefined : conflict;
    });
  }

  return {
    armed(change) {
      const { workspaceId, accountId } = change;
      const payload = { workspaceId, accountId };
      return { op: "schedule", row: projectRows.row({ id: rowId(change), dueAtMs: storage.now() + leaseMs, payload }) };
    },
    async project(change) {
      const { workspaceId, accountId } = change;
      try {
        await updateProjection(workspaceId, accountId);
        const due: DueWrite[] = [{ op: "acknowledge", id: rowId(change), fence: firstFence }];
        // The result is ignored: a conflict means that another node has taken over the row and will find nothing left to
        // do.
        await storage.commit({ partition: partitionOfId(workspaceId), due });
      } catch (err) {
        // The membership change itself is durable. The due row updates the projection later.
        log.warn({ err, workspaceId }, "membership list not updated yet; its due row will run again");
      }
    },
    workers: {
      [projectRows.name]: projectRows.worker(async ({ payload: { workspaceId, accountId } }) => {
        await updateProjection(workspaceId, accountId);
        return { kind: "done" };
      }),
    },
  };
}

function toWrite(
  projected: Stored<MembershipRecord> | undefined,
  workspace: WorkspaceRecord | undefined,
  workspaceId: string,
  accountId: string,
): RecordWrite<MembershipRecord> | undefined {
  const belongs = workspace?.members.some((member) => member.accountId === accountId) === true;
  if (belongs === (projected !== undefined)) return undefined;
  if (projected !== undefined) return { op: "delete", type: membershipRecord, replacing: projected };
  const value = { accountId, workspaceId, workspaceCreatedAt: workspace?.createdAt ?? 0 };
  return { op: "put", type: membershipRecord, value, replacing: null };
}
