/**
 * The accounts' ways to their workspaces, kept in step with the workspace records.
 *
 * A change of members arms a due row in its own commit, leased to this node, which brings the projection in
 * line at once; if the node dies first, the row falls due and any node does it. The projection is written
 * under the revision that was read before the workspace, so of two runs that cross, the one that read the
 * older workspace is refused and looks again.
 */
import type { Logger } from "pino";
import type { DueWorker } from "../actors/port.ts";
import { partitionOfId } from "../ids.ts";
import type { DueWrite, RecordWrite, Storage, Stored } from "../storage/port.ts";
import { type MembershipRecord, membershipKey, membershipRecord, type WorkspaceRecord, workspaceRecord } from "./records.ts";

const projectKind = "membership.project";
/** A due row that nobody held before has this fence. */
const firstFence = 1;

export interface MembershipChange {
  readonly workspaceId: string;
  readonly accountId: string;
  /** Revision of the workspace record that the change makes. */
  readonly revision: number;
}

export interface Memberships {
  /** For the commit that changes the members. */
  armed(change: MembershipChange): DueWrite;
  /** After that commit: brings the projection in line, or leaves it to the row. */
  project(change: MembershipChange): Promise<void>;
  /** For the due pump: who runs rows of which kind. */
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
  async function bringInLine(workspaceId: string, accountId: string): Promise<void> {
    for (;;) {
      // In this order: a workspace read before the projection could be older than what the projection shows.
      const projected = await storage.records.get(membershipRecord, membershipKey(accountId, workspaceId));
      const workspace = (await storage.records.get(workspaceRecord, workspaceId))?.value;
      const write = toWrite(projected, workspace, workspaceId, accountId);
      if (write === undefined) return;
      await storage.commit({ partition: partitionOfId(accountId), records: [write] });
    }
  }

  return {
    armed(change) {
      const { workspaceId, accountId } = change;
      const payload = { workspaceId, accountId };
      const row = { id: rowId(change), kind: projectKind, dueAtMs: storage.now() + leaseMs, payload, attempts: 0 };
      return { op: "schedule", row };
    },
    async project(change) {
      const { workspaceId, accountId } = change;
      try {
        await bringInLine(workspaceId, accountId);
        const due: DueWrite[] = [{ op: "acknowledge", id: rowId(change), fence: firstFence }];
        // A conflict means that another node has taken the row over: it will find nothing left to do.
        await storage.commit({ partition: partitionOfId(workspaceId), due });
      } catch (err) {
        // The change itself is durable and decides; the row brings its projection in line later.
        log.warn({ err, workspaceId }, "a membership is not yet listed; its row will be run again");
      }
    },
    workers: {
      async [projectKind](row) {
        const { workspaceId, accountId } = row.payload as { workspaceId: string; accountId: string };
        await bringInLine(workspaceId, accountId);
        return { kind: "done" };
      },
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
