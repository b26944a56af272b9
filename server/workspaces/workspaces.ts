/**
 * Workspaces: made, listed, read, changed. Every decision about a caller is taken on the record that is read
 * for it, so a role that was lost a moment ago no longer counts.
 */
import type { z } from "zod";
import { AppError, notFound } from "../../api/schema/error.ts";
import type { CreateWorkspaceRequest, CreateWorkspaceResponse, UpdateWorkspaceRequest, Workspace } from "../../api/schema/workspace.ts";
import type { Call } from "../calls/call.ts";
import type { Pager } from "../calls/paging.ts";
import { requireMatch } from "../calls/precondition.ts";
import { principalOf } from "../calls/principal.ts";
import { conflict, untilCommitted } from "../calls/untilCommitted.ts";
import { partitionOfId } from "../ids.ts";
import { partitionCount, type RecordWrite, type Storage, type Stored } from "../storage/port.ts";
import { reaches, requireRole, roleIn } from "./access.ts";
import type { Memberships } from "./memberships.ts";
import { toNewWorkspace } from "./newWorkspace.ts";
import { type WorkspaceRecord, workspaceRecord } from "./records.ts";
import { checkSettings, mergeSettings } from "./settings.ts";

export interface WorkspacePage {
  readonly workspaces: readonly Workspace[];
  readonly nextToken?: string;
}

export interface Workspaces {
  create(call: Call, request: z.output<typeof CreateWorkspaceRequest>): Promise<CreateWorkspaceResponse>;
  /** What the caller can see, newest first, each with the caller's effective permission. */
  list(call: Call, page: { readonly limit?: number | undefined; readonly nextToken?: string | undefined }): Promise<WorkspacePage>;
  get(call: Call, workspaceId: string): Promise<{ readonly workspace: Workspace; readonly revision: number }>;
  /** Resolves with the message for the answer. */
  update(call: Call, workspaceId: string, request: z.output<typeof UpdateWorkspaceRequest>): Promise<{ readonly message: string }>;
}

export interface WorkspacesOptions {
  readonly storage: Pick<Storage, "records">;
  readonly memberships: Memberships;
  readonly pager: Pager;
}

function toWorkspace(record: WorkspaceRecord): Workspace {
  const { workspaceId, name, type, owner, members, displayName, settings, counters, createdAt, updatedAt } = record;
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
      // Drawn from the call's ids, so that a repeat of the call goes to the same partition.
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
          const stored = await storage.records.getMany(workspaceRecord, ids);
          return stored.map((found) => {
            if (found === undefined || roleIn(found.value, accountId) === undefined) return undefined;
            return reaches(principal, found.value.workspaceId) ? { ...toWorkspace(found.value), effectivePermission: "write" } : undefined;
          });
        },
      });
      return { workspaces: items, ...rest };
    },

    async get(call, workspaceId) {
      const { value, revision } = await read(workspaceId);
      requireRole(call, value, "read");
      return { workspace: toWorkspace(value), revision };
    },

    update(call, workspaceId, { name, settings }) {
      return untilCommitted(async () => {
        const replacing = await read(workspaceId);
        const before = replacing.value;
        requireRole(call, before, "admin");
        requireMatch(call, replacing.revision);
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
