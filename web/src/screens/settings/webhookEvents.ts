/** The events that a webhook can be subscribed to, and when they are sent. */
import type { WorkspaceWebhookEventType } from "../../../../api/schema/webhook.ts";

const meanings: Readonly<Record<WorkspaceWebhookEventType, string>> = {
  "article.updated": "An article was committed, or a checkpoint of it was made.",
  "review.mentioned": "A comment or reply mentions a person.",
  "review.replied": "A person replied to a comment or suggestion.",
};

export const eventTypes: readonly WorkspaceWebhookEventType[] = ["article.updated", "review.mentioned", "review.replied"];

export const eventOptions = eventTypes.map((value) => ({ value, label: value, hint: meanings[value] }));
