/** Workspaces and members (specification: Workspace). All shapes are closed. */
import { z } from "zod";
import { FreeForm, Line, UnixSeconds, Username } from "./common.ts";

export const WorkspaceType = z.enum(["user", "team"]).meta({ id: "WorkspaceType" });
export const MemberRole = z.enum(["owner", "admin", "member"]).meta({ id: "MemberRole" });
export type MemberRole = z.infer<typeof MemberRole>;
export const Permission = z.enum(["read", "write"]).meta({ id: "Permission" });
export type Permission = z.infer<typeof Permission>;

export const Workspace = z
  .strictObject({
    workspaceId: z.string(),
    name: z.string(),
    type: WorkspaceType,
    ownerUsername: z.string(),
    members: z.array(z.strictObject({ username: z.string(), role: MemberRole })),
    createdAt: UnixSeconds,
    updatedAt: UnixSeconds,
    effectivePermission: Permission.optional(),
    displayName: z.string().optional(),
    settings: FreeForm.optional(),
    svcProjectCounter: z.number().optional(),
    svcBriefCounter: z.number().optional(),
    svcArticleCounter: z.number().optional(),
  })
  .meta({ id: "Workspace" });
export type Workspace = z.infer<typeof Workspace>;

export const CreateWorkspaceRequest = z
  .strictObject({ name: Line(200), type: WorkspaceType, settings: FreeForm.optional() })
  .meta({ id: "CreateWorkspaceRequest" });

export const CreateWorkspaceResponse = z
  .strictObject({ workspaceId: z.string(), name: z.string(), type: z.string(), ownerUsername: z.string(), message: z.string() })
  .meta({ id: "CreateWorkspaceResponse" });
export type CreateWorkspaceResponse = z.infer<typeof CreateWorkspaceResponse>;

/** `settings` is a JSON Merge Patch (RFC 7396). */
export const UpdateWorkspaceRequest = z
  .strictObject({ name: Line(200).optional(), settings: FreeForm.optional() })
  .meta({ id: "UpdateWorkspaceRequest" });

export const WorkspaceMessageResponse = z.strictObject({ message: z.string() }).meta({ id: "WorkspaceMessageResponse" });
export type WorkspaceMessageResponse = z.infer<typeof WorkspaceMessageResponse>;

export const AddMemberRequest = z.strictObject({ username: Username, role: z.enum(["admin", "member"]) }).meta({ id: "AddMemberRequest" });

export const UpdateMemberRequest = z.strictObject({ role: z.enum(["admin", "member"]) }).meta({ id: "UpdateMemberRequest" });

export const WorkspaceMember = z
  .strictObject({ username: z.string(), role: MemberRole, type: z.literal("direct") })
  .meta({ id: "WorkspaceMember" });
export type WorkspaceMember = z.infer<typeof WorkspaceMember>;

export const WorkspaceCollaborator = z
  .strictObject({ username: z.string(), permission: Permission, type: z.literal("invited"), acceptedAt: UnixSeconds })
  .meta({ id: "WorkspaceCollaborator" });

export const WorkspaceCollaboratorResponse = z
  .union([WorkspaceMember, WorkspaceCollaborator])
  .meta({ id: "WorkspaceCollaboratorResponse" });
export type WorkspaceCollaboratorResponse = z.infer<typeof WorkspaceCollaboratorResponse>;
