/**
 * This module creates, lists, reads and updates workspaces. Every permission check uses the record that was read for
 * the operation, so a role that was removed a moment ago no longer counts.
 */
import type { z } from "zod";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type {
  CreateWorkspaceRequest,
  CreateWorkspaceResponse,
  UpdateWorkspaceRequest,
  Workspace,
} from "../../../../api/schema/workspace.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import { partitionCount, type RecordWrite, type Storage, type Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Call } from "../../call/call.ts";
import type { PageQuery, Pager } from "../../call/paging.ts";
import { requireMatch } from "../../call/precondition.ts";
import { principalOf } from "../../call/principal.ts";
import { reaches, requireRole, roleIn } from "./access.ts";
import type { Memberships } from "./memberships.ts";
import { toNewWorkspace } from "./newWorkspace.ts";
import { type Counters, countersOf, type WorkspaceRecord, workspaceCountersRecord, workspaceRecord } from "./records.ts";
import { checkSettings, mergeSettings } from "./settings.ts";

export interface WorkspacePage {
  readonly workspaces: readonly Workspace[];
  readonly nextToken?: string;
}

export interface FoundWorkspace {
  readonly workspace: Workspace;
  /** Revision of the workspace record. */
  readonly revision: number;
  /** Revision of the counters record; 0 before the first number is assigned. */
  readonly countersRevision: number;
}

export interface Workspaces {
  create(call: Call, request: z.output<typeof CreateWorkspaceRequest>): Promise<CreateWorkspaceResponse>;
  /** Lists the workspaces that the caller can see, newest first, each with the caller's effective permission. */
  list(call: Call, page: PageQuery): Promise<WorkspacePage>;
  get(call: Call, workspaceId: string): Promise<FoundWorkspace>;
  /** Resolves with the message for the response. */
  update(call: Call, workspaceId: string, request: z.output<typeof UpdateWorkspaceRequest>): Promise<{ readonly message: string }>;
}

export interface WorkspacesOptions {
  readonly storage: Pick<Storage, "records">;
  readonly memberships: Memberships;
  readonly pager: Pager;
}

function toWorkspace(record: WorkspaceRecord, counters: Counters): Workspace {
  const { workspaceId, name, type, owner, members, displayName, settings, createdAt, updatedAt } = record;
  return {
    workspaceId,
    name,
    type,
    ownerUsername: members.find((member) => member.accountId === owner)?.username ?? "",
    members: members.map(({ username, role }) => ({ username, role })),
    createdAt,
    updatedAt,
    ...(displayName === undefined ? {} : { displayName }),
    ...(settings === undefined ? {} : { settings: settings as NonNullable<Workspace["settings"]> }),
    svcProjectCounter: counters.project,
    svcBriefCounter: counters.brief,
    svcArticleCounter: counters.article,
  };
}

export function createWorkspaces({ storage, memberships, pager }: WorkspacesOptions): Workspaces {
  async function read(workspaceId: string): Promise<Stored<WorkspaceRecord>> {
    const stored = await storage.records.get(workspaceRecord, workspaceId);
    if (stored === undefined) throw notFound();
    return stored;
  }

  return {
    async create(call, { name, type, settings }) {
      const principal = principalOf(call);
      const { accountId, username } = principal;
      if (principal.kind === "key" && principal.workspaceIds !== undefined) {
        throw new AppError("insufficient_permission", "This API key is limited to some workspaces; it cannot make another one.");
      }
      if (settings !== undefined) checkSettings(settings, call.limits);
      // The partition comes from the ids of the call, so that a repeat of the call uses the same partition.
      const partition = (call.ids.bytes(1)[0] ?? 0) % partitionCount;
      const workspaceId = call.ids.next("ws", partition);
      const { records } = toNewWorkspace({ workspaceId, name, type, owner: { accountId, username }, settings, nowMs: call.nowMs });
      const change = { workspaceId, accountId, revision: 1 };
      const response = { workspaceId, name, type, ownerUsername: username, message: "Workspace created." };
      const result = await call.commit({ partition, records, due: [memberships.armed(change)] }, response);
      if (!result.ok) throw new Error(`the new workspace ${workspaceId} exists already`);
      await memberships.project(change);
      return response;
    },

    async list(call, { limit, nextToken }) {
      const principal = principalOf(call);
      const { accountId } = principal;
      const { items, ...rest } = await pager.page<Workspace>({
        scope: "workspaces",
        partition: partitionOfId(accountId),
        prefix: ["membership.account", accountId],
        reverse: true,
        limit,
        nextToken,
        async load(keys) {
          const ids = keys.map((key) => key.slice(key.indexOf("/") + 1));
          const [stored, counters] = await Promise.all([
            storage.records.getMany(workspaceRecord, ids),
            storage.records.getMany(workspaceCountersRecord, ids),
          ]);
          return stored.map((found, at) => {
            if (found === undefined || roleIn(found.value, accountId) === undefined) return undefined;
            if (!reaches(principal, found.value.workspaceId)) return undefined;
            return { ...toWorkspace(found.value, countersOf(found.value, counters[at])), effectivePermission: "write" };
          });
        },
      });
      return { workspaces: items, ...rest };
    },

    async get(call, workspaceId) {
      const [{ value, revision }, counters] = await Promise.all([
        read(workspaceId),
        storage.records.get(workspaceCountersRecord, workspaceId),
      ]);
      requireRole(call, value, "read");
      return { workspace: toWorkspace(value, countersOf(value, counters)), revision, countersRevision: counters?.revision ?? 0 };
    },

    update(call, workspaceId, { name, settings }) {
      return retryOnConflict("workspace.update", async () => {
        const replacing = await read(workspaceId);
        const before = replacing.value;
        requireRole(call, before, "admin");
        requireMatch(call, replacing.revision, "live");
        if (settings !== undefined) checkSettings(settings, call.limits);
        const merged = settings === undefined ? before.settings : mergeSettings(before.settings, settings);
        if (merged !== undefined) checkSettings(merged, call.limits);
        const renamed = name !== undefined && name !== before.name;
        if (!renamed && JSON.stringify(merged) === JSON.stringify(before.settings)) return { message: "Nothing to change." };
        const value: WorkspaceRecord = {
          ...before,
          ...(name === undefined ? {} : { name }),
          ...(merged === undefined ? {} : { settings: merged }),
          updatedAt: call.nowMs / 1000,
        };
        const write: RecordWrite<WorkspaceRecord> = { op: "put", type: workspaceRecord, value, replacing };
        const response = { message: "Workspace updated." };
        const result = await call.commit({ partition: partitionOfId(workspaceId), records: [write] }, response);
        return result.ok ? response : conflict;
      });
    },
  };
}
