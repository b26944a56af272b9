/**
 * What is kept of webhooks, all of it in the partition of their workspace: the webhook itself, the events it was
 * told of, the deliveries (actors of `machines/delivery.ts`) and how its endpoint fares (`machines/endpoint.ts`).
 * Secrets are kept sealed.
 */
import type { WorkspaceWebhookEventType } from "../../api/schema/webhook.ts";
import type { DeliveryContext } from "../../machines/delivery.ts";
import type { EndpointContext } from "../../machines/endpoint.ts";
import type { ActorRecord } from "../actors/port.ts";
import { partitionOfId } from "../ids.ts";
import { defineRecord } from "../storage/recordType.ts";

export interface WebhookRecord {
  readonly webhookId: string;
  readonly workspaceId: string;
  /** As it was given; parsed and checked anew before each attempt. */
  readonly url: string;
  readonly events: readonly WorkspaceWebhookEventType[];
  readonly active: boolean;
  /** Sealed for `secretBinding(webhookId)`. */
  readonly secret: string;
  /** The secret before the last rotation; it signs too until then. */
  readonly previousSecret?: { readonly sealed: string; readonly validUntilMs: number };
  /** Lowest number that was free when it was made: makes the number of webhooks a rule of the store. */
  readonly slot: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Where a webhook's secret may be opened. */
export function secretBinding(webhookId: string): string {
  return `webhook/${webhookId}`;
}

export const webhookRecord = defineRecord<WebhookRecord>({
  name: "webhook",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.webhookId,
  indexes: ({ workspaceId, createdAtMs, webhookId }) => [["webhook", workspaceId, createdAtMs, webhookId]],
  unique: ({ workspaceId, slot }) => [["webhook.slot", workspaceId, slot]],
});

/** One event; its body is fixed here once and sent byte for byte to every webhook that is told. */
export interface WebhookEventRecord {
  readonly eventId: string;
  readonly event: WorkspaceWebhookEventType;
  readonly workspaceId: string;
  readonly body: string;
  readonly createdAtMs: number;
  /** Trace context (W3C) of the request that caused it. */
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

/** Apart from the webhook, so that an endpoint's troubles do not change the webhook's entity tag. */
export const endpointRecord = defineRecord<EndpointRecord>({
  name: "endpoint",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (value) => value.id,
});

export const webhookRecordTypes = [webhookRecord, webhookEventRecord, deliveryRecord, endpointRecord];
