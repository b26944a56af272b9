import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { MemberRole, Permission, Workspace } from "../../../api/schema/workspace.ts";
import type { Failure } from "../ui/problem.tsx";
import { trpc } from "./data.ts";
import { useMe } from "./useMe.ts";

export interface OpenWorkspace {
  readonly workspaceId: string;
  /** Undefined while it is read. */
  readonly workspace: Workspace | undefined;
  readonly error: Failure | null;
  /** Undefined for invited collaborators, and while the workspace is read. */
  readonly role: MemberRole | undefined;
  readonly permission: Permission | undefined;
  /** May change members, webhooks and settings. */
  readonly isAdmin: boolean;
  readonly canWrite: boolean;
}

/** The workspace of the address. */
export function useWorkspace(): OpenWorkspace {
  const { workspaceId } = useParams({ from: "/session/w/$workspaceId" });
  const { username } = useMe();
  const { data: workspace, error } = useQuery(trpc.workspaces.get.queryOptions({ workspaceId }));
  const { data: list } = useQuery(trpc.workspaces.list.queryOptions({}));
  const role = workspace?.members.find((member) => member.username === username)?.role;
  const permission =
    role === undefined ? list?.workspaces.find((listed) => listed.workspaceId === workspaceId)?.effectivePermission : "write";
  return {
    workspaceId,
    workspace,
    error,
    role,
    permission,
    isAdmin: role === "owner" || role === "admin",
    canWrite: permission === "write",
  };
}
