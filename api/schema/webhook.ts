/** Workspace webhooks (specification: WorkspaceWebhook, Events). The secret appears only where it is made. */
import { z } from "zod";
import { IsoTime } from "./common.ts";

export const WorkspaceWebhookEventType = z
  .enum(["review.mentioned", "review.replied", "article.updated"])
  .meta({ id: "WorkspaceWebhookEventType" });
export type WorkspaceWebhookEventType = z.infer<typeof WorkspaceWebhookEventType>;

const shape = {
  webhookId: z.string(),
  workspaceId: z.string(),
  url: z.string(),
  events: z.array(WorkspaceWebhookEventType),
  active: z.boolean(),
  createdAt: IsoTime,
  updatedAt: IsoTime,
};

export const WorkspaceWebhook = z.strictObject(shape).meta({ id: "WorkspaceWebhook" });
export type WorkspaceWebhook = z.infer<typeof WorkspaceWebhook>;

export const CreateWorkspaceWebhookResponse = z
  .strictObject({ ...shape, secret: z.string() })
  .meta({ id: "CreateWorkspaceWebhookResponse" });
export type CreateWorkspaceWebhookResponse = z.infer<typeof CreateWorkspaceWebhookResponse>;

/** `secret` only when `rotateSecret` was true. */
export const UpdateWorkspaceWebhookResponse = z
  .strictObject({ ...shape, secret: z.string().optional() })
  .meta({ id: "UpdateWorkspaceWebhookResponse" });
export type UpdateWorkspaceWebhookResponse = z.infer<typeof UpdateWorkspaceWebhookResponse>;

/** `events` omitted subscribes to all three; duplicates are folded. */
export const CreateWorkspaceWebhookRequest = z
  .strictObject({ url: z.string(), events: z.array(WorkspaceWebhookEventType).min(1).max(100).optional() })
  .meta({ id: "CreateWorkspaceWebhookRequest" });

export const UpdateWorkspaceWebhookRequest = z
  .strictObject({
    url: z.string().optional(),
    events: z.array(WorkspaceWebhookEventType).min(1).max(100).optional(),
    active: z.boolean().optional(),
    rotateSecret: z.boolean().optional(),
  })
  .meta({ id: "UpdateWorkspaceWebhookRequest" });
