/** Defines the schemas of workspaces and members (specification: Workspace). All schemas refuse unknown fields. */
import { z } from "zod";
import { FreeForm, Line, number, text, Username, unixSeconds, username } from "./common.ts";
import { idText } from "./id.ts";

export const WorkspaceType = z
  .enum(["user", "team"])
  .meta({ id: "WorkspaceType", description: "`user`: the personal workspace of one account. `team`: a workspace for several accounts." });
export const MemberRole = z.enum(["owner", "admin", "member"]).meta({
  id: "MemberRole",
  description: "`owner` may do everything, `admin` manages members, webhooks and settings, `member` works on content.",
});
export type MemberRole = z.infer<typeof MemberRole>;
export const Permission = z.enum(["read", "write"]).meta({ id: "Permission", description: "`read`, or `write`, which includes reading." });
export type Permission = z.infer<typeof Permission>;

const Member = z
  .strictObject({ username: username("Username of the member."), role: MemberRole })
  .describe("A member and the member's role.");

export const Workspace = z
  .strictObject({
    workspaceId: idText("ws", "Id of the workspace."),
    name: text("Name of the workspace.", "Editorial team"),
    type: WorkspaceType,
    ownerUsername: username("Username of the owner."),
    members: z.array(Member).describe("Members with their roles. Invited collaborators are not among them."),
    createdAt: unixSeconds("When the workspace was created."),
    updatedAt: unixSeconds("When the workspace last changed."),
    effectivePermission: Permission.describe("Permission of the caller in the workspace. Present in lists.").optional(),
    displayName: text("Label of a personal workspace that was imported twice.", "Ana (2)").optional(),
    settings: FreeForm.describe("Settings of the workspace, such as its style profiles.").optional(),
    svcProjectCounter: number("Number of content projects created so far.", 2).optional(),
    svcBriefCounter: number("Number of topics created so far, which is the highest `T-<n>`.", 41).optional(),
    svcArticleCounter: number("Number of articles created so far.", 17).optional(),
  })
  .meta({ id: "Workspace", description: "A workspace: a group of people, articles, topics and webhooks." });
export type Workspace = z.infer<typeof Workspace>;

const Name = Line(200).meta({ description: "Name of the workspace, 1 to 200 characters.", example: "Editorial team" });

export const CreateWorkspaceRequest = z
  .strictObject({ name: Name, type: WorkspaceType, settings: FreeForm.describe("Initial settings; none by default.").optional() })
  .meta({ id: "CreateWorkspaceRequest", description: "The workspace to create." });

export const CreateWorkspaceResponse = z
  .strictObject({
    workspaceId: idText("ws", "Id of the new workspace."),
    name: text("Name of the workspace.", "Editorial team"),
    type: text("`user` or `team`.", "team"),
    ownerUsername: username("Username of the owner: the caller."),
    message: text("Result of the operation, as text.", "Workspace created."),
  })
  .meta({ id: "CreateWorkspaceResponse", description: "The new workspace." });
export type CreateWorkspaceResponse = z.infer<typeof CreateWorkspaceResponse>;

/** `settings` is a JSON Merge Patch (RFC 7396). */
export const UpdateWorkspaceRequest = z
  .strictObject({
    name: Name.optional(),
    settings: FreeForm.describe(
      "JSON Merge Patch (RFC 7396) of the settings: a given member is set, `null` removes a member, and the other members do not change.",
    ).optional(),
  })
  .meta({ id: "UpdateWorkspaceRequest", description: "The fields to change. Fields that are left out do not change." });

export const WorkspaceMessageResponse = z
  .strictObject({ message: text("Result of the operation, as text.", "Workspace updated.") })
  .meta({ id: "WorkspaceMessageResponse", description: "A confirmation." });
export type WorkspaceMessageResponse = z.infer<typeof WorkspaceMessageResponse>;

const NewRole = z.enum(["admin", "member"]).describe("Role of the member: `admin` or `member`.");

export const AddMemberRequest = z
  .strictObject({ username: Username.describe("Username of an existing account."), role: NewRole })
  .meta({ id: "AddMemberRequest", description: "The member to add." });

export const UpdateMemberRequest = z
  .strictObject({ role: NewRole })
  .meta({ id: "UpdateMemberRequest", description: "The member's new role." });

export const WorkspaceMember = z
  .strictObject({
    username: username("Username of the member."),
    role: MemberRole,
    type: z.literal("direct").describe("Distinguishes members from invited collaborators."),
  })
  .meta({ id: "WorkspaceMember", description: "A member of the workspace." });
export type WorkspaceMember = z.infer<typeof WorkspaceMember>;

export const WorkspaceCollaborator = z
  .strictObject({
    username: username("Username of the collaborator."),
    permission: Permission,
    type: z.literal("invited").describe("Distinguishes invited collaborators from members."),
    acceptedAt: unixSeconds("When the invitation was accepted."),
  })
  .meta({ id: "WorkspaceCollaborator", description: "An account that was invited to read or write, without being a member." });

export const WorkspaceCollaboratorResponse = z.union([WorkspaceMember, WorkspaceCollaborator]).meta({
  id: "WorkspaceCollaboratorResponse",
  description: "An account that can open the workspace: a member or an invited collaborator.",
});
export type WorkspaceCollaboratorResponse = z.infer<typeof WorkspaceCollaboratorResponse>;
