/**
 * Who may do what in a workspace, by its record. What cannot be seen and what does not exist are both
 * `undefined`. Articles and runs lead to their workspace through functions it is given; it knows nothing of either.
 */
import type { ResourceKind, Role } from "../../api/operation.ts";
import { AppError, notFound } from "../../api/schema/error.ts";
import { idPattern } from "../../api/schema/id.ts";
import type { MemberRole } from "../../api/schema/workspace.ts";
import type { Access, Call, Principal } from "../calls/call.ts";
import type { AccessResolver } from "../calls/ports.ts";
import { principalOf } from "../calls/principal.ts";
import { partitionOfId } from "../ids.ts";
import type { Storage } from "../storage/port.ts";
import { type WorkspaceRecord, workspaceRecord } from "./records.ts";

/** Where an article belongs; `deleted` also finds it in the trash. */
export type LocateArticle = (
  articleId: string,
  options: { readonly deleted: boolean },
) => Promise<{ readonly workspaceId: string } | undefined>;

/** Where a run belongs. */
export type LocateRun = (runId: string) => Promise<{ readonly workspaceId: string } | undefined>;

const roles: Readonly<Record<MemberRole, Role>> = { owner: "owner", admin: "admin", member: "write" };
const workspaceIdPattern = idPattern("ws");
const articleIdPattern = idPattern("art");
const runIdPattern = idPattern("run");

/** The account's role in the workspace; `undefined` for who is not in it. */
export function roleIn(workspace: WorkspaceRecord, accountId: string): Role | undefined {
  const member = workspace.members.find((row) => row.accountId === accountId);
  return member === undefined ? undefined : roles[member.role];
}

const ranks: Readonly<Record<Role, number>> = { read: 1, write: 2, admin: 3, owner: 4 };

/**
 * Refuses unless the caller has the role in this very record: the one that is about to be changed, or shown.
 * The wrapper asked before, but a role may be lost between its look and a commit.
 */
export function requireRole(call: Pick<Call, "principal">, workspace: WorkspaceRecord, wanted: Role): void {
  const principal = principalOf(call);
  const role = roleIn(workspace, principal.accountId);
  if (role === undefined || !reaches(principal, workspace.workspaceId)) throw notFound();
  if (ranks[role] < ranks[wanted]) {
    // Members are the lowest there are, so what is missing is always one of these two.
    throw new AppError("insufficient_role", `This needs the role ${wanted === "owner" ? "owner" : "admin or owner"} in the workspace.`);
  }
}

/** A key may be narrowed to some of its account's workspaces. */
export function reaches(principal: Principal, workspaceId: string): boolean {
  return principal.kind === "session" || principal.workspaceIds === undefined || principal.workspaceIds.includes(workspaceId);
}

export interface AccessResolverOptions {
  readonly storage: Pick<Storage, "records">;
  readonly locateArticle: LocateArticle;
  readonly locateRun: LocateRun;
}

export function createAccessResolver({ storage, locateArticle, locateRun }: AccessResolverOptions): AccessResolver {
  async function resolveWorkspace(principal: Principal, workspaceId: string): Promise<Access | undefined> {
    if (!workspaceIdPattern.test(workspaceId) || !reaches(principal, workspaceId)) return undefined;
    const workspace = (await storage.records.get(workspaceRecord, workspaceId))?.value;
    const role = workspace === undefined ? undefined : roleIn(workspace, principal.accountId);
    return role === undefined ? undefined : { workspaceId, partition: partitionOfId(workspaceId), role };
  }

  async function locate(kind: ResourceKind, id: string, options: { readonly deleted: boolean }) {
    if (kind === "article" && articleIdPattern.test(id)) return locateArticle(id, options);
    if (kind === "run" && runIdPattern.test(id)) return locateRun(id);
    return undefined;
  }

  return {
    async resolve(principal, kind, id, options) {
      if (kind === "workspace") return resolveWorkspace(principal, id);
      const found = await locate(kind, id, options);
      return found === undefined ? undefined : resolveWorkspace(principal, found.workspaceId);
    },
  };
}
