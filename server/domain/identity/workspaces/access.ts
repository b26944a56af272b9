/**
 * This module decides which role a principal has in a workspace, based on the workspace record.
 *
 * An invisible resource and a missing resource both give `undefined`. An injected function for each kind of resource finds
 * its workspace; this module knows nothing else about resources.
 */
import type { ResourceKind, Role } from "../../../../api/contract/operation.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import { type IdPrefix, idPattern } from "../../../../api/schema/id.ts";
import type { MemberRole } from "../../../../api/schema/workspace.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Access, Call, Principal } from "../../call/call.ts";
import type { AccessResolver } from "../../call/ports.ts";
import { present } from "../../call/present.ts";
import { principalOf } from "../../call/principal.ts";
import { type WorkspaceRecord, workspaceRecord } from "./records.ts";

/** Kinds of resources that are found by their own id, and the prefixes of these ids. */
const prefixes = {
  article: "art",
  folder: "fld",
  job: "job",
  review: "rev",
  run: "run",
  template: "tpl",
} as const satisfies Partial<Record<ResourceKind, IdPrefix>>;

/**
 * Finds the workspace of a resource. A resource in the trash is found only with `deleted`, and the result then names the
 * article that is in the trash.
 */
export type Locate = (
  id: string,
  options: { readonly deleted: boolean },
) => Promise<{ readonly workspaceId: string; readonly trashedArticleId?: string } | undefined>;

/** One function for each kind of resource that is found by its own id. */
export type Locators = Readonly<Record<keyof typeof prefixes, Locate>>;

const roles: Readonly<Record<MemberRole, Role>> = { owner: "owner", admin: "admin", member: "write" };
const workspaceIdPattern = idPattern("ws");
const idPatterns = new Map<ResourceKind, RegExp>(
  Object.entries(prefixes).map(([kind, prefix]) => [kind as keyof typeof prefixes, idPattern(prefix)]),
);

/** Returns the role of the account in the workspace; `undefined` for an account that is not a member. */
export function roleIn(workspace: WorkspaceRecord, accountId: string): Role | undefined {
  const member = workspace.members.find((row) => row.accountId === accountId);
  return member === undefined ? undefined : roles[member.role];
}

const ranks: Readonly<Record<Role, number>> = { read: 1, write: 2, admin: 3, owner: 4 };

/**
 * Throws unless the caller has the role in the given record, which is the one that is about to be changed or returned.
 * The call wrapper has checked the role before, but the role may be removed between that check and the commit. Throws
 * `not_found` or `insufficient_role`.
 */
export function requireRole(call: Pick<Call, "principal">, workspace: WorkspaceRecord, wanted: Role): void {
  const principal = principalOf(call);
  const role = roleIn(workspace, principal.accountId);
  if (role === undefined || !reaches(principal, workspace.workspaceId)) throw notFound();
  if (ranks[role] < ranks[wanted]) {
    // `write` is the lowest role of a member, so the missing role is always owner or admin.
    throw new AppError(
      "insufficient_role",
      `This operation needs the role ${wanted === "owner" ? "owner" : "admin or owner"} in the workspace.`,
    );
  }
}

/** Returns the check of `requireRole` for the present record of a workspace. Throws `not_found` if there is none. */
export function createRoleCheck(
  storage: Pick<Storage, "records">,
  wanted: Role,
): (call: Pick<Call, "principal">, workspaceId: string) => Promise<void> {
  return async (call, workspaceId) => {
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    if (workspace === undefined) throw notFound();
    requireRole(call, workspace.value, wanted);
  };
}

/** Returns whether the credential covers the workspace. A key may be limited to some workspaces of its account. */
export function reaches(principal: Principal, workspaceId: string): boolean {
  return principal.kind === "session" || principal.workspaceIds === undefined || principal.workspaceIds.includes(workspaceId);
}

export interface AccessResolverOptions {
  readonly storage: Pick<Storage, "records">;
  readonly locators: Locators;
}

export function createAccessResolver({ storage, locators }: AccessResolverOptions): AccessResolver {
  async function resolveWorkspace(principal: Principal, workspaceId: string): Promise<Access | undefined> {
    if (!workspaceIdPattern.test(workspaceId) || !reaches(principal, workspaceId)) return undefined;
    const workspace = (await storage.records.get(workspaceRecord, workspaceId))?.value;
    const role = workspace === undefined ? undefined : roleIn(workspace, principal.accountId);
    return role === undefined ? undefined : { workspaceId, partition: partitionOfId(workspaceId), role };
  }

  async function locate(kind: ResourceKind, id: string, options: { readonly deleted: boolean }): ReturnType<Locate> {
    return idPatterns.get(kind)?.test(id) === true ? locators[kind as keyof Locators](id, options) : undefined;
  }

  return {
    async resolve(principal, kind, id, options) {
      if (kind === "workspace") return resolveWorkspace(principal, id);
      const found = await locate(kind, id, options);
      const access = found === undefined ? undefined : await resolveWorkspace(principal, found.workspaceId);
      return access === undefined ? undefined : { ...access, ...present({ trashedArticleId: found?.trashedArticleId }) };
    },
  };
}
