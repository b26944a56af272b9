import { z } from "zod";
import { nextToken, pageQuery } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import {
  CreateWorkspaceRequest,
  CreateWorkspaceResponse,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspaceMessageResponse,
} from "../schema/workspace.ts";
import { operation } from "./operation.ts";

const params = z.strictObject({ workspaceId: WorkspaceId });
const resource = { kind: "workspace", in: "params", name: "workspaceId" } as const;

export const workspaces = {
  create: operation({
    method: "POST",
    path: "/workspaces",
    bodies: { "application/json": CreateWorkspaceRequest },
    replies: { 201: CreateWorkspaceResponse },
    location: "/workspaces/{workspaceId}",
    credential: "any",
    scopes: ["workspaces:write"],
    summary: "Create a workspace owned by the caller",
    description: "The caller owns it and can add members.",
    example: { name: "Editorial team", type: "team" },
  }),
  list: operation({
    method: "GET",
    path: "/workspaces",
    query: z.strictObject({ ...pageQuery }),
    replies: {
      200: z
        .strictObject({ workspaces: z.array(Workspace).describe("Workspaces, newest first."), nextToken })
        .meta({ id: "WorkspaceList", description: "A page of workspaces." }),
    },
    credential: "any",
    scopes: ["workspaces:read"],
    summary: "List the workspaces the caller can see, each with the caller's effective permission",
    description: "Own ones, and those the caller is a member or collaborator of. A key that is limited to workspaces sees only these.",
  }),
  get: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}",
    params,
    replies: { 200: Workspace },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    scopes: ["workspaces:read"],
    resource,
    role: "read",
    summary: "Get a workspace",
    description: "With its members and settings.",
  }),
  update: operation({
    method: "PATCH",
    path: "/workspaces/{workspaceId}",
    params,
    bodies: { "application/json": UpdateWorkspaceRequest },
    replies: { 200: WorkspaceMessageResponse },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    ifMatch: true,
    summary: "Rename a workspace or merge into its settings",
    description:
      "For administrators. `settings` is a JSON Merge Patch: `null` removes a member. Style profiles for runs are kept under `styleProfiles`.",
    example: { settings: { styleProfiles: { house: { content: "Short sentences. No jargon." } } } },
  }),
} as const;
