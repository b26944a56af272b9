import { WorkspaceId } from "../schema/id.ts";
import {
  CreateWorkspaceRequest,
  CreateWorkspaceResponse,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspaceMessageResponse,
} from "../schema/workspace.ts";
import { inWorkspace, resource } from "./resource.ts";

const workspace = resource({
  one: "a workspace",
  many: "workspaces",
  field: "workspaces",
  path: "/workspaces",
  id: { workspaceId: WorkspaceId },
  schema: Workspace,
  read: { credential: "any", scopes: ["workspaces:read"] },
  write: { credential: "any", scopes: ["workspaces:write"] },
});

export const workspaces = {
  create: workspace.create(CreateWorkspaceRequest, {
    replies: { 201: CreateWorkspaceResponse },
    replyHeaders: {},
    summary: "Create a workspace owned by the caller",
    description: "The caller owns it and can add members.",
    example: { name: "Editorial team", type: "team" },
  }),
  list: workspace.list({
    summary: "List the workspaces the caller can see, each with the caller's effective permission",
    description: "Own ones, and those the caller is a member or collaborator of. A key that is limited to workspaces sees only these.",
  }),
  get: workspace.get({
    resource: inWorkspace,
    role: "read",
    summary: "Get a workspace",
    description: "With its members and settings.",
  }),
  update: workspace.update(UpdateWorkspaceRequest, {
    replies: { 200: WorkspaceMessageResponse },
    replyHeaders: {},
    resource: inWorkspace,
    role: "admin",
    summary: "Rename a workspace or merge into its settings",
    description:
      "For administrators. `settings` is a JSON Merge Patch: `null` removes a member. Style profiles for runs are kept under `styleProfiles`.",
    example: { settings: { styleProfiles: { house: { content: "Short sentences. No jargon." } } } },
  }),
} as const;
