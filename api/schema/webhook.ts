/**
 * Defines the schemas of workspace webhooks (specification: WorkspaceWebhook, Events). The secret is only in the answer
 * to the request that created it.
 */
import { z } from "zod";
import { flag, isoTime, text } from "./common.ts";
import { idText } from "./id.ts";

export const WorkspaceWebhookEventType = z.enum(["review.mentioned", "review.replied", "article.updated"]).meta({
  id: "WorkspaceWebhookEventType",
  description:
    "`review.mentioned`: a comment or reply mentions a person. `review.replied`: a person replied. `article.updated`: an article was committed or checkpointed.",
});
export type WorkspaceWebhookEventType = z.infer<typeof WorkspaceWebhookEventType>;

const secret = text(
  "Key of the signature of every delivery, with its prefix `whsec_`. It is shown only in this answer.",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
);

const shape = {
  webhookId: idText("whk", "Id of the webhook."),
  workspaceId: idText("ws", "Workspace whose events are delivered."),
  url: text("HTTPS address that receives the events.", "https://hooks.example/in"),
  events: z.array(WorkspaceWebhookEventType).describe("Events that the webhook is subscribed to."),
  active: flag("False: nothing is sent, and queued attempts are not made.", true),
  createdAt: isoTime("When the webhook was created."),
  updatedAt: isoTime("When the webhook last changed."),
};

export const WorkspaceWebhook = z.strictObject(shape).meta({ id: "WorkspaceWebhook", description: "A webhook, without its secret." });
export type WorkspaceWebhook = z.infer<typeof WorkspaceWebhook>;

export const CreateWorkspaceWebhookResponse = z
  .strictObject({ ...shape, secret })
  .meta({ id: "CreateWorkspaceWebhookResponse", description: "A new webhook with its secret." });
export type CreateWorkspaceWebhookResponse = z.infer<typeof CreateWorkspaceWebhookResponse>;

/** `secret` is present only if `rotateSecret` was true. */
export const UpdateWorkspaceWebhookResponse = z
  .strictObject({ ...shape, secret: secret.optional() })
  .meta({ id: "UpdateWorkspaceWebhookResponse", description: "The webhook; with `rotateSecret` also its new secret." });
export type UpdateWorkspaceWebhookResponse = z.infer<typeof UpdateWorkspaceWebhookResponse>;

const NewUrl = text("HTTPS address on a public host, at most 2,048 characters.", "https://hooks.example/in");
const NewEvents = z.array(WorkspaceWebhookEventType).min(1).max(100);

/** Without `events` the webhook subscribes to all three events. Duplicates are removed. */
export const CreateWorkspaceWebhookRequest = z
  .strictObject({ url: NewUrl, events: NewEvents.describe("Events to subscribe to; all by default.").optional() })
  .meta({ id: "CreateWorkspaceWebhookRequest", description: "The webhook to create." });

export const UpdateWorkspaceWebhookRequest = z
  .strictObject({
    url: NewUrl.optional(),
    events: NewEvents.describe("Events to subscribe to. They replace the present ones.").optional(),
    active: flag("False stops deliveries, true starts them again.", false).optional(),
    rotateSecret: flag("True creates a new secret. For 24 hours, deliveries are signed with the old secret too.", true).optional(),
  })
  .meta({ id: "UpdateWorkspaceWebhookRequest", description: "The fields to change. Fields that are left out do not change." });
