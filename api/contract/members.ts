import { z } from "zod";
import { pageQuery, Username } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import { AddMemberRequest, UpdateMemberRequest, WorkspaceCollaboratorResponse, WorkspaceMember } from "../schema/workspace.ts";
import { operation } from "./operation.ts";
import { inWorkspace, pageOf, resource } from "./resource.ts";

const params = z.strictObject({ workspaceId: WorkspaceId });

const member = resource({
  one: "a member",
  many: "members",
  field: "members",
  path: "/workspaces/{workspaceId}/members",
  params,
  id: { username: Username.describe("Username of the member.") },
  schema: WorkspaceMember,
  read: { credential: "any", scopes: ["workspaces:read"], resource: inWorkspace, role: "read" },
  write: { credential: "any", scopes: ["workspaces:write"], resource: inWorkspace, role: "admin", rate: "management" },
});

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
      200: pageOf("collaborators", WorkspaceCollaboratorResponse, {
        id: "CollaboratorList",
        description: "A page of people.",
        items: "Members and invited collaborators.",
      }),
    },
    credential: "any",
    scopes: ["workspaces:read"],
    resource: inWorkspace,
    role: "read",
    summary: "List who can open the workspace: members and invited collaborators",
    description: "Members have a role; invited collaborators have a permission.",
  }),
  add: member.create(AddMemberRequest, {
    replyHeaders: {},
    errors: ["already_exists"],
    summary: "Add a member",
    description: "Only administrators can add members. The account must exist. It can open the workspace at once.",
    example: { username: "bea", role: "member" },
  }),
  get: member.get({
    replyHeaders: {},
    summary: "Get a member",
    description: "The answer contains the role of the account in the workspace. An account that is not a member answers 404.",
  }),
  update: member.update(UpdateMemberRequest, {
    replyHeaders: {},
    ifMatch: false,
    errors: ["last_owner"],
    summary: "Change a member's role",
    description: "Only administrators can change roles. The owner's role cannot be changed.",
    example: { role: "admin" },
  }),
  remove: member.delete({
    ifMatch: false,
    role: "read",
    errors: ["last_owner"],
    summary: "Remove a member; its open sockets close within a second",
    description:
      "Administrators can remove any member except the owner, and members can remove themselves. The texts of the member stay, and runs that the member started continue.",
  }),
} as const;
