/**
 * `createWebhookHandlers` connects the operations of `api/contract/webhooks.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CreateWorkspaceWebhookResponse } from "../../../api/schema/webhook.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { UpdatedWebhook, Webhooks, WebhookView } from "../../domain/webhooks/webhooks.ts";

export function createWebhookHandlers({ webhooks }: { readonly webhooks: Webhooks }): Handlers<AppContract>["webhooks"] {
  return {
    create: {
      serve: ({ params, body }, call) => webhooks.create(call, params.workspaceId, body),
      reply: (body: CreateWorkspaceWebhookResponse) => ({
        status: 201,
        headers: { location: `/workspaces/${body.workspaceId}/webhooks/${body.webhookId}` },
        body,
      }),
    },
    list: {
      serve: ({ params, query }, call) => webhooks.list(call, params.workspaceId, query),
      reply: (body) => ({ status: 200, body }),
    },
    get: {
      serve: ({ params }, call) => webhooks.get(call, params.workspaceId, params.webhookId),
      reply: ({ webhook, revision }: WebhookView) => ({ status: 200, headers: { etag: recordEtag(revision) }, body: webhook }),
    },
    update: {
      serve: ({ params, body }, call) => webhooks.update(call, params.workspaceId, params.webhookId, body),
      reply: ({ webhook, revision }: UpdatedWebhook) => ({
        status: 200,
        headers: { etag: recordEtag(revision) },
        body: webhook,
      }),
    },
    delete: {
      serve: ({ params }, call) => webhooks.delete(call, params.workspaceId, params.webhookId),
      reply: () => ({ status: 204 }),
    },
  };
}
