import { z } from "zod";
import { nextToken, pageQuery } from "../schema/common.ts";
import { WebhookId, WorkspaceId } from "../schema/id.ts";
import {
  CreateWorkspaceWebhookRequest,
  CreateWorkspaceWebhookResponse,
  UpdateWorkspaceWebhookRequest,
  UpdateWorkspaceWebhookResponse,
  WorkspaceWebhook,
} from "../schema/webhook.ts";
import { operation } from "./operation.ts";

const params = z.strictObject({ workspaceId: WorkspaceId });
const webhookParams = z.strictObject({ workspaceId: WorkspaceId, webhookId: WebhookId });
const resource = { kind: "workspace", in: "params", name: "workspaceId" } as const;
const urlErrors = ["url_not_https", "url_not_public", "url_unresolvable"] as const;

export const webhooks = {
  create: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/webhooks",
    params,
    bodies: { "application/json": CreateWorkspaceWebhookRequest },
    replies: { 201: CreateWorkspaceWebhookResponse },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    rate: "management",
    secret: true,
    errors: [...urlErrors, "limit_reached"],
    summary: "Create a webhook; its secret is shown only in this answer",
    description:
      "Only administrators can create webhooks. The address must use HTTPS and resolve to public addresses only. Every delivery is signed with the secret. A delivery that is not answered with 2xx is repeated: ten attempts over three days. A workspace has at most 50 webhooks.",
    example: { url: "https://hooks.example/in", events: ["article.updated"] },
  }),
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/webhooks",
    params,
    query: z.strictObject({ ...pageQuery }),
    replies: {
      200: z
        .strictObject({ webhooks: z.array(WorkspaceWebhook).describe("Webhooks, newest first."), nextToken })
        .meta({ id: "WebhookList", description: "A page of webhooks." }),
    },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    summary: "List the webhooks of a workspace, without their secrets",
    description: "Only administrators can list webhooks. The newest webhook comes first.",
  }),
  get: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/webhooks/{webhookId}",
    params: webhookParams,
    replies: { 200: WorkspaceWebhook },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    summary: "Get a webhook, without its secret",
    description: "Only administrators can read webhooks.",
  }),
  update: operation({
    method: "PATCH",
    path: "/workspaces/{workspaceId}/webhooks/{webhookId}",
    params: webhookParams,
    bodies: { "application/json": UpdateWorkspaceWebhookRequest },
    replies: { 200: UpdateWorkspaceWebhookResponse },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    rate: "management",
    ifMatch: true,
    secret: true,
    errors: urlErrors,
    summary: "Change a webhook; with rotateSecret the answer contains a new secret",
    description:
      "Only administrators can change webhooks. After a rotation, deliveries are signed with the old secret too for 24 hours. `active: false` stops deliveries.",
    example: { rotateSecret: true },
  }),
  delete: operation({
    method: "DELETE",
    path: "/workspaces/{workspaceId}/webhooks/{webhookId}",
    params: webhookParams,
    replies: { 204: null },
    credential: "any",
    scopes: ["workspaces:write"],
    resource,
    role: "admin",
    rate: "management",
    ifMatch: true,
    summary: "Delete a webhook; queued attempts are not made",
    description: "Only administrators can delete webhooks. The deliveries of the webhook are deleted with it.",
  }),
} as const;
