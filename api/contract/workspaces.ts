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
    description: "The caller becomes the owner and can add members.",
    example: { name: "Editorial team", type: "team" },
  }),
  list: workspace.list({
    summary: "List the workspaces that the caller can see, each with the caller's effective permission",
    description:
      "The list contains workspaces that the caller owns, or in which the caller is a member or collaborator. A key that is limited to some workspaces sees only these.",
  }),
  get: workspace.get({
    resource: inWorkspace,
    role: "read",
    summary: "Get a workspace",
    description: "The answer contains the members and the settings of the workspace.",
  }),
  update: workspace.update(UpdateWorkspaceRequest, {
    replies: { 200: WorkspaceMessageResponse },
    replyHeaders: {},
    resource: inWorkspace,
    role: "admin",
    summary: "Rename a workspace or merge new values into its settings",
    description:
      "Only administrators can change a workspace. `settings` is a JSON Merge Patch: `null` removes a member. Style profiles for runs are stored under `styleProfiles`.",
    example: { settings: { styleProfiles: { house: { content: "Short sentences. No jargon." } } } },
  }),
} as const;
