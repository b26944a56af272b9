import { z } from "zod";
import { operation } from "../operation.ts";
import { pageQuery, Username } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import { AddMemberRequest, UpdateMemberRequest, WorkspaceCollaboratorResponse, WorkspaceMember } from "../schema/workspace.ts";

const params = z.strictObject({ workspaceId: WorkspaceId });
const memberParams = z.strictObject({ workspaceId: WorkspaceId, username: Username });
const resource = { kind: "workspace", in: "params", name: "workspaceId" } as const;

export const members = {
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/collaborators",
    params,
    query: z.strictObject({ ...pageQuery, type: z.enum(["direct", "invited"]).optional() }),
    replies: {
      200: z
        .strictObject({ collaborators: z.array(WorkspaceCollaboratorResponse), nextToken: z.string().optional() })
        .meta({ id: "CollaboratorList" }),
    },
    credential: "any",
    scopes: ["workspaces:read"],
    resource,
    role: "read",
    summary: "List who can open the workspace: members and invited collaborators",
  }),
  add: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/members",
    params,
    bodies: { "application/json": AddMemberRequest },
    replies: { 201: WorkspaceMember },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    rate: "management",
    errors: ["already_exists"],
    summary: "Add a member",
  }),
  update: operation({
    method: "PATCH",
    path: "/workspaces/{workspaceId}/members/{username}",
    params: memberParams,
    bodies: { "application/json": UpdateMemberRequest },
    replies: { 200: WorkspaceMember },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    rate: "management",
    errors: ["last_owner"],
    summary: "Change a member's role",
  }),
  remove: operation({
    method: "DELETE",
    path: "/workspaces/{workspaceId}/members/{username}",
    params: memberParams,
    replies: { 204: null },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "read",
    rate: "management",
    errors: ["last_owner"],
    summary: "Remove a member (an administrator, or the member itself); open sockets close within a second",
  }),
} as const;
