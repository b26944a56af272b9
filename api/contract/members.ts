import { z } from "zod";
import { nextToken, pageQuery, Username } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import { AddMemberRequest, UpdateMemberRequest, WorkspaceCollaboratorResponse, WorkspaceMember } from "../schema/workspace.ts";
import { operation } from "./operation.ts";

const params = z.strictObject({ workspaceId: WorkspaceId });
const memberParams = z.strictObject({ workspaceId: WorkspaceId, username: Username.describe("Username of the member.") });
const resource = { kind: "workspace", in: "params", name: "workspaceId" } as const;

export const members = {
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/collaborators",
    params,
    query: z.strictObject({
      ...pageQuery,
      type: z.enum(["direct", "invited"]).describe("Only members (`direct`), or only invited collaborators (`invited`).").optional(),
    }),
    replies: {
      200: z
        .strictObject({ collaborators: z.array(WorkspaceCollaboratorResponse).describe("Members and invited collaborators."), nextToken })
        .meta({ id: "CollaboratorList", description: "A page of people." }),
    },
    credential: "any",
    scopes: ["workspaces:read"],
    resource,
    role: "read",
    summary: "List who can open the workspace: members and invited collaborators",
    description: "Members have a role, invited collaborators a permission.",
  }),
  add: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/members",
    params,
    bodies: { "application/json": AddMemberRequest },
    replies: { 201: WorkspaceMember },
    location: "/workspaces/{workspaceId}/members/{username}",
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    rate: "management",
    errors: ["already_exists"],
    summary: "Add a member",
    description: "For administrators. The account must exist; it can open the workspace at once.",
    example: { username: "bea", role: "member" },
  }),
  get: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/members/{username}",
    params: memberParams,
    replies: { 200: WorkspaceMember },
    credential: "any",
    scopes: ["workspaces:read"],
    resource,
    role: "read",
    summary: "Get a member",
    description: "The account's role in the workspace. An account that is no member is 404.",
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
    description: "For administrators. The owner's role cannot be changed.",
    example: { role: "admin" },
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
    description: "What the member wrote stays, and runs that the member started go on.",
  }),
} as const;
