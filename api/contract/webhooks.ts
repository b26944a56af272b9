import { z } from "zod";
import { WebhookId, WorkspaceId } from "../schema/id.ts";
import {
  CreateWorkspaceWebhookRequest,
  CreateWorkspaceWebhookResponse,
  UpdateWorkspaceWebhookRequest,
  UpdateWorkspaceWebhookResponse,
  WorkspaceWebhook,
} from "../schema/webhook.ts";
import { inWorkspace, resource } from "./resource.ts";

const admin = { credential: "any", scopes: ["workspaces:write"], resource: inWorkspace, role: "admin" } as const;
const urlErrors = ["url_not_https", "url_not_public", "url_unresolvable"] as const;

const webhook = resource({
  one: "a webhook",
  many: "webhooks",
  field: "webhooks",
  path: "/workspaces/{workspaceId}/webhooks",
  params: z.strictObject({ workspaceId: WorkspaceId }),
  id: { webhookId: WebhookId },
  schema: WorkspaceWebhook,
  read: admin,
  write: { ...admin, rate: "management" },
});

export const webhooks = {
  create: webhook.create(CreateWorkspaceWebhookRequest, {
    replies: { 201: CreateWorkspaceWebhookResponse },
    replyHeaders: {},
    secret: true,
    errors: [...urlErrors, "limit_reached"],
    summary: "Create a webhook; its secret is shown only in this answer",
    description:
      "Only administrators can create webhooks. The address must use HTTPS and resolve to public addresses only. Every delivery is signed with the secret. A delivery that is not answered with 2xx is repeated: ten attempts over three days. A workspace has at most 50 webhooks.",
    example: { url: "https://hooks.example/in", events: ["article.updated"] },
  }),
  list: webhook.list({
    summary: "List the webhooks of a workspace, without their secrets",
    description: "Only administrators can list webhooks. The newest webhook comes first.",
  }),
  get: webhook.get({
    summary: "Get a webhook, without its secret",
    description: "Only administrators can read webhooks.",
  }),
  update: webhook.update(UpdateWorkspaceWebhookRequest, {
    replies: { 200: UpdateWorkspaceWebhookResponse },
    secret: true,
    errors: urlErrors,
    summary: "Change a webhook; with rotateSecret the answer contains a new secret",
    description:
      "Only administrators can change webhooks. After a rotation, deliveries are signed with the old secret too for 24 hours. `active: false` stops deliveries.",
    example: { rotateSecret: true },
  }),
  delete: webhook.delete({
    summary: "Delete a webhook; queued attempts are not made",
    description: "Only administrators can delete webhooks. The deliveries of the webhook are deleted with it.",
  }),
} as const;
