/**
 * This module serves the operations on webhooks. The secret is returned only when it is created and when it is rotated;
 * the stored secret is sealed.
 *
 * The URL is checked before the records for the commit are read, because the check waits for a name server of a third
 * party. The role of the caller is checked again after that. This module sends no requests.
 */
import type { Logger } from "pino";
import type { webhooks as contract } from "../../../api/contract/webhooks.ts";
import { type WorkspaceWebhook, WorkspaceWebhookEventType } from "../../../api/schema/webhook.ts";
import type { DuePump } from "../../platform/actors/duePort.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import type { CheckPublicUrl } from "../../platform/outbound/publicUrl.ts";
import type { Secrets } from "../../platform/secrets.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Call, Handlers } from "../call/call.ts";
import { createCollection } from "../call/collection.ts";
import type { Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { createRoleCheck } from "../identity/workspaces/access.ts";
import { webhookPurge } from "./cleanup.ts";
import type { EndpointKind } from "./kinds.ts";
import { endpointRecord, secretBinding, type WebhookRecord, webhookRecord } from "./records.ts";
import { createWebhookSecret } from "./sign.ts";

export interface WebhooksOptions {
  readonly storage: Pick<Storage, "records" | "index" | "now">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly endpointKind: EndpointKind;
  readonly pump: Pick<DuePump, "wake">;
  readonly checkUrl: CheckPublicUrl;
  readonly secrets: Pick<Secrets, "seal">;
  readonly pager: Pager;
  readonly log: Logger;
}

/** Returns the events in the order of the specification, without duplicates. The default is all events. */
function toEvents(events: readonly WorkspaceWebhookEventType[] | undefined): readonly WorkspaceWebhookEventType[] {
  return WorkspaceWebhookEventType.options.filter((event) => events === undefined || events.includes(event));
}

function toWebhook({ webhookId, workspaceId, url, events, active, createdAtMs, updatedAtMs }: WebhookRecord): WorkspaceWebhook {
  const [createdAt, updatedAt] = [new Date(createdAtMs).toISOString(), new Date(updatedAtMs).toISOString()];
  return { webhookId, workspaceId, url, events: [...events], active, createdAt, updatedAt };
}

export function createWebhooks(options: WebhooksOptions): Handlers<{ webhooks: typeof contract }>["webhooks"] {
  const { storage, actors, endpointKind, pump, checkUrl, secrets, pager, log } = options;
  const webhooks = createCollection<WebhookRecord, WorkspaceWebhook>({
    storage,
    actors,
    pager,
    record: webhookRecord,
    many: "webhooks",
    toView: toWebhook,
    authorize: createRoleCheck(storage, "admin"),
    limit: "webhook.perWorkspace",
    log,
  });

  function seal(webhookId: string, secret: string): string {
    return secrets.seal(secretBinding(webhookId), Buffer.from(secret));
  }

  /** Records in the endpoint, in the commit of the webhook, whether the webhook was enabled or disabled. */
  async function changeEndpoint(unit: UnitOfWork, webhookId: string, active: boolean): Promise<void> {
    const endpoint = await unit.read(endpointKind, webhookId);
    if (endpoint === undefined || (endpoint.value.state === "disabled") === !active) return;
    await unit.send(endpointKind, webhookId, { type: active ? "webhook.enabled" : "webhook.disabled" });
  }

  return {
    async create({ params, body }, call) {
      const { url } = await checkUrl(body.url);
      const secret = createWebhookSecret();
      return webhooks.create(call, params.workspaceId, (webhookId, base, unit) => {
        unit.create(endpointKind, webhookId, { webhookId });
        const events = toEvents(body.events);
        const value = { ...base, webhookId, url: url.href, events, active: true, secret: seal(webhookId, secret) };
        return { value, shown: { secret } };
      });
    },

    list: ({ params, query }) => webhooks.page(params.workspaceId, query),

    get: ({ params }) => webhooks.get(params.workspaceId, params.webhookId),

    async update({ params: { workspaceId, webhookId }, body }, call) {
      // Reject a missing webhook or a failed If-Match before the slow DNS lookup.
      requireMatch(call, (await webhooks.read(workspaceId, webhookId)).revision);
      const checked = body.url === undefined ? undefined : await checkUrl(body.url);
      const secret = body.rotateSecret === true ? createWebhookSecret() : undefined;
      return webhooks.change(call, workspaceId, webhookId, async (before, unit) => {
        const active = body.active ?? before.active;
        const value: WebhookRecord = {
          ...before,
          url: checked?.url.href ?? before.url,
          events: body.events === undefined ? before.events : toEvents(body.events),
          active,
          ...(secret === undefined ? {} : toRotated(before, seal(webhookId, secret), call)),
        };
        if (active !== before.active) await changeEndpoint(unit, webhookId, active);
        return { value, ...(secret === undefined ? {} : { shown: { secret }, event: "webhook.rotated" }) };
      });
    },

    /** Deletes the webhook and its delivery log. Queued deliveries are not sent. */
    async delete({ params: { workspaceId, webhookId } }, call) {
      const dueAtMs = storage.now();
      await webhooks.remove(call, workspaceId, webhookId, async (_webhook, unit) => {
        const endpoint = await storage.records.get(endpointRecord, webhookId);
        if (endpoint !== undefined) unit.record({ op: "delete", type: endpointRecord, replacing: endpoint });
        unit.due({ op: "schedule", row: webhookPurge(webhookId, dueAtMs) });
        unit.afterCommit(() => pump.wake(unit.partition, dueAtMs));
      });
    },
  };
}

function toRotated({ secret }: WebhookRecord, sealed: string, call: Call): Pick<WebhookRecord, "secret" | "previousSecret"> {
  return { secret: sealed, previousSecret: { sealed: secret, validUntilMs: call.nowMs + call.limits["webhook.oldSecret"] } };
}
