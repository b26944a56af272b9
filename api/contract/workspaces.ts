import { z } from "zod";
import { operation } from "../operation.ts";
import { pageQuery } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import {
  CreateWorkspaceRequest,
  CreateWorkspaceResponse,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspaceMessageResponse,
} from "../schema/workspace.ts";

const params = z.strictObject({ workspaceId: WorkspaceId });
const resource = { kind: "workspace", in: "params", name: "workspaceId" } as const;

export const workspaces = {
  create: operation({
    method: "POST",
    path: "/workspaces",
    bodies: { "application/json": CreateWorkspaceRequest },
    replies: { 201: CreateWorkspaceResponse },
    credential: "any",
    scopes: ["workspaces:write"],
    summary: "Create a workspace owned by the caller",
  }),
  list: operation({
    method: "GET",
    path: "/workspaces",
    query: z.strictObject({ ...pageQuery }),
    replies: { 200: z.strictObject({ workspaces: z.array(Workspace), nextToken: z.string().optional() }).meta({ id: "WorkspaceList" }) },
    credential: "any",
    scopes: ["workspaces:read"],
    summary: "List the workspaces the caller can see, each with the caller's effective permission",
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
  }),
} as const;
