/**
 * This module defines the stored records of webhooks, all in the partition of their workspace: the webhook, its events,
 * the deliveries (actors of `machines/delivery.ts`) and the state of the endpoint (`machines/endpoint.ts`). Secrets are
 * stored sealed.
 */
import type { WorkspaceWebhookEventType } from "../../../api/schema/webhook.ts";
import type { DeliveryContext } from "../../../machines/delivery.ts";
import type { EndpointContext } from "../../../machines/endpoint.ts";
import type { ActorRecord } from "../../platform/actors/port.ts";
import { type CollectionRecord, defineCollectionRecord } from "../../platform/storage/collectionRecord.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";

export interface WebhookRecord extends CollectionRecord {
  readonly webhookId: string;
  /** The URL of the request that set it, in normalized form. It is parsed and checked again before each attempt. */
  readonly url: string;
  readonly events: readonly WorkspaceWebhookEventType[];
  readonly active: boolean;
  /** Sealed for `secretBinding(webhookId)`. */
  readonly secret: string;
  /** The secret before the last rotation. Until `validUntilMs`, requests are signed with it too. */
  readonly previousSecret?: { readonly sealed: string; readonly validUntilMs: number };
}

/** Returns the binding of a webhook secret. A sealed secret can be opened only with the same binding. */
export function secretBinding(webhookId: string): string {
  return `webhook/${webhookId}`;
}

export const webhookRecord = defineCollectionRecord<WebhookRecord>({
  name: "webhook",
  version: 1,
  id: { field: "webhookId", prefix: "whk" },
});

/** One event. The body is fixed when the event is created, and every webhook gets exactly these bytes. */
export interface WebhookEventRecord {
  readonly eventId: string;
  readonly event: WorkspaceWebhookEventType;
  readonly workspaceId: string;
  readonly body: string;
  readonly createdAtMs: number;
  /** W3C trace context of the request that caused the event. */
  readonly traceparent?: string;
}

export const webhookEventRecord = defineRecord<WebhookEventRecord>({
  name: "webhookEvent",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.eventId,
});

export type DeliveryRecord = ActorRecord<DeliveryContext>;

export const deliveryRecord = defineRecord<DeliveryRecord>({
  name: "delivery",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
  indexes: ({ id, context: { webhookId, eventId, createdAtMs } }) => [
    ["delivery.webhook", webhookId, createdAtMs, id],
    ["delivery.event", eventId, id],
  ],
  expiresAtMs: ({ context }) => context.expiresAtMs,
});

export type EndpointRecord = ActorRecord<EndpointContext>;

/** The state of the endpoint. It is separate from the webhook, so that failed attempts do not change the webhook's entity tag. */
export const endpointRecord = defineRecord<EndpointRecord>({
  name: "endpoint",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
});

export const webhookRecordTypes = [webhookRecord, webhookEventRecord, deliveryRecord, endpointRecord];
