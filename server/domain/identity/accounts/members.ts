/**
 * This module manages the members of a workspace. Members are part of the workspace record, so each change is a change
 * of the latest revision of that record. The same commit writes the fact that closes open sockets.
 */
import type { Logger } from "pino";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type { MemberRole, WorkspaceCollaboratorResponse, WorkspaceMember } from "../../../../api/schema/workspace.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { RecordWrite, Storage, Stored } from "../../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../../platform/storage/retryOnConflict.ts";
import type { Call } from "../../call/call.ts";
import type { PageTokens } from "../../call/pageToken.ts";
import { type PageQuery, toPageLimit } from "../../call/paging.ts";
import { principalOf, toActor } from "../../call/principal.ts";
import { accessFactWrite } from "../access/accessFacts.ts";
import type { AccountRegistry } from "../registry/accountRegistry.ts";
import { requireRole } from "../workspaces/access.ts";
import type { Memberships } from "../workspaces/memberships.ts";
import { type MemberRow, type WorkspaceRecord, workspaceRecord } from "../workspaces/records.ts";

type GrantedRole = Exclude<MemberRole, "owner">;

export interface CollaboratorQuery extends PageQuery {
  readonly type?: "direct" | "invited" | undefined;
}

export interface CollaboratorPage {
  readonly collaborators: readonly WorkspaceCollaboratorResponse[];
  readonly nextToken?: string;
}

export interface AddedMember {
  readonly workspaceId: string;
  readonly member: WorkspaceMember;
}

export interface Members {
  /** Lists the members, ordered by username. */
  list(call: Call, workspaceId: string, query: CollaboratorQuery): Promise<CollaboratorPage>;
  get(call: Call, workspaceId: string, username: string): Promise<WorkspaceMember>;
  add(call: Call, workspaceId: string, request: { readonly username: string; readonly role: GrantedRole }): Promise<AddedMember>;
  update(call: Call, workspaceId: string, username: string, role: GrantedRole): Promise<WorkspaceMember>;
  /** Removes a member. Allowed for administrators and for the member itself. */
  remove(call: Call, workspaceId: string, username: string): Promise<void>;
}

export interface MembersOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly accounts: Pick<AccountRegistry, "find">;
  readonly memberships: Memberships;
  readonly pageTokens: PageTokens;
  readonly log: Logger;
}

function toMember({ username, role }: MemberRow): WorkspaceMember {
  return { username, role, type: "direct" };
}

function lastOwner(detail: string): AppError {
  return new AppError("last_owner", detail);
}

export function createMembers({ storage, accounts, memberships, pageTokens, log }: MembersOptions): Members {
  const audit = log.child({ stream: "audit" });

  async function read(workspaceId: string): Promise<Stored<WorkspaceRecord>> {
    const stored = await storage.records.get(workspaceRecord, workspaceId);
    if (stored === undefined) throw notFound();
    return stored;
  }

  function memberNamed(workspace: WorkspaceRecord, username: string): MemberRow {
    const member = workspace.members.find((row) => row.username === username);
    if (member === undefined) throw new AppError("not_found", `The workspace has no member ${username}.`);
    return member;
  }

  /** Writes the members that `decide` returns. `undefined` leaves the members unchanged. */
  async function change(
    call: Call,
    workspaceId: string,
    decide: (workspace: WorkspaceRecord) => { readonly members: readonly MemberRow[]; readonly changed: MemberRow } | undefined,
    value: (changed: MemberRow) => unknown,
  ): Promise<MemberRow | undefined> {
    const partition = partitionOfId(workspaceId);
    const done = await retryOnConflict("members.change", async () => {
      const replacing = await read(workspaceId);
      const decision = decide(replacing.value);
      if (decision === undefined) return undefined;
      const { members, changed } = decision;
      const revision = replacing.revision + 1;
      const put: RecordWrite<WorkspaceRecord> = {
        op: "put",
        type: workspaceRecord,
        value: { ...replacing.value, members, updatedAt: call.nowMs / 1000 },
        replacing,
      };
      const projection = { workspaceId, accountId: changed.accountId, revision };
      const result = await call.commit(
        {
          partition,
          records: [put],
          logs: [accessFactWrite({ kind: "membership.changed", workspaceId, accountId: changed.accountId })],
          due: [memberships.armed(projection)],
        },
        value(changed),
      );
      return result.ok ? { changed, projection } : conflict;
    });
    if (done === undefined) return undefined;
    await memberships.project(done.projection);
    return done.changed;
  }

  function note(call: Call, event: string, workspaceId: string, { username, role }: MemberRow): void {
    audit.info({ event, workspaceId, member: username, role, by: toActor(principalOf(call)) }, event);
  }

  return {
    async list(call, workspaceId, { type, limit, nextToken }) {
      const { value } = await read(workspaceId);
      requireRole(call, value, "read");
      const binding = JSON.stringify(["collaborators", workspaceId, type ?? null]);
      const after = nextToken === undefined ? undefined : String(pageTokens.open(binding, nextToken, storage.now())[1] ?? "");
      const count = toPageLimit(limit, call.limits);
      const rows = type === "invited" ? [] : [...value.members].sort((one, other) => (one.username < other.username ? -1 : 1));
      const rest = after === undefined ? rows : rows.filter((row) => row.username > after);
      const page = rest.slice(0, count);
      const last = page.at(-1);
      const collaborators = page.map(toMember);
      if (last === undefined || rest.length <= count) return { collaborators };
      const expiresAtMs = storage.now() + call.limits["keep.nextToken"];
      return { collaborators, nextToken: pageTokens.seal(binding, ["collaborator", last.username], expiresAtMs) };
    },

    async get(call, workspaceId, username) {
      const { value } = await read(workspaceId);
      requireRole(call, value, "read");
      return toMember(memberNamed(value, username));
    },

    async add(call, workspaceId, { username, role }) {
      const account = await accounts.find(username);
      const added = await change(
        call,
        workspaceId,
        (workspace) => {
          requireRole(call, workspace, "admin");
          if (account === undefined) throw new AppError("not_found", `There is no account ${username}.`);
          if (workspace.members.some((row) => row.accountId === account.accountId)) {
            throw new AppError("already_exists", `${username} is already a member of the workspace.`);
          }
          const changed = { accountId: account.accountId, username: account.username, role };
          return { members: [...workspace.members, changed], changed };
        },
        (changed) => ({ workspaceId, member: toMember(changed) }),
      );
      if (added === undefined) throw new Error("a new member is always a change");
      note(call, "member.added", workspaceId, added);
      return { workspaceId, member: toMember(added) };
    },

    async update(call, workspaceId, username, role) {
      let unchanged: MemberRow | undefined;
      const updated = await change(
        call,
        workspaceId,
        (workspace) => {
          requireRole(call, workspace, "admin");
          const member = memberNamed(workspace, username);
          if (member.role === "owner") throw lastOwner("The owner's role cannot be changed: a workspace always has its owner.");
          unchanged = member;
          if (member.role === role) return undefined;
          const changed = { ...member, role };
          return { members: workspace.members.map((row) => (row === member ? changed : row)), changed };
        },
        toMember,
      );
      if (updated !== undefined) note(call, "member.updated", workspaceId, updated);
      const member = updated ?? unchanged;
      if (member === undefined) throw new Error("a member is either changed or as before");
      return toMember(member);
    },

    async remove(call, workspaceId, username) {
      const removed = await change(
        call,
        workspaceId,
        (workspace) => {
          requireRole(call, workspace, username === principalOf(call).username ? "read" : "admin");
          const member = memberNamed(workspace, username);
          if (member.role === "owner") throw lastOwner("The owner cannot leave or be removed: a workspace always has its owner.");
          return { members: workspace.members.filter((row) => row !== member), changed: member };
        },
        () => undefined,
      );
      if (removed !== undefined) note(call, "member.removed", workspaceId, removed);
    },
  };
}
