/**
 * This module is the webhook outbox: it creates the deliveries of an event, one for each webhook that is active and
 * subscribed at that moment.
 *
 * The deliveries are part of the commit that makes the event true. Therefore no committed event is lost, and no
 * uncommitted event is sent. The body is fixed here. Delivery ids are derived from the event id and the webhook id.
 * This module commits nothing itself.
 */
import type { Limits } from "../../../api/limits.ts";
import type { WorkspaceWebhookEventType } from "../../../api/schema/webhook.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { readCollection } from "../../platform/storage/collectionRecord.ts";
import { type IdSource, partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { eventCleanup } from "./cleanup.ts";
import { toDeliveryId } from "./deliveryId.ts";
import type { DeliveryKind } from "./kinds.ts";
import { toEventBody } from "./payload.ts";
import { webhookEventRecord, webhookRecord } from "./records.ts";

export interface WorkspaceEvent {
  readonly workspaceId: string;
  readonly event: WorkspaceWebhookEventType;
  /** Store time of the event. */
  readonly createdAtMs: number;
  /** Source of the event id. A repeat of the same call gives the same id. */
  readonly ids: IdSource;
  readonly data: object;
  /** W3C trace context of the request that caused the event. It is sent with every attempt. */
  readonly traceparent?: string | undefined;
}

export interface Enqueue {
  /** Creates the deliveries in the commit of the event. They are sent after that commit. */
  enqueue(unit: UnitOfWork, event: WorkspaceEvent): Promise<void>;
}

export interface EnqueueOptions {
  readonly storage: Pick<Storage, "index" | "records">;
  readonly deliveryKind: DeliveryKind;
  readonly limits: Limits;
}

export function createEnqueue({ storage, deliveryKind, limits }: EnqueueOptions): Enqueue {
  return {
    async enqueue(unit, { workspaceId, event, createdAtMs, ids, data, traceparent }) {
      // Draw the id before the webhooks are read. Otherwise a repeat of the call could get different later ids, because
      // the subscribed webhooks may have changed.
      const eventId = ids.next("evt", partitionOfId(workspaceId));
      const all = await readCollection(storage, webhookRecord, workspaceId);
      const webhooks = all.filter(({ value }) => value.active && value.events.includes(event));
      if (webhooks.length === 0) return;

      const createdAt = new Date(createdAtMs).toISOString();
      const body = toEventBody({ id: eventId, event, createdAt, workspaceId, data }, limits["webhook.payload"]);
      const value = { eventId, event, workspaceId, body, createdAtMs, ...(traceparent === undefined ? {} : { traceparent }) };
      unit.record({ op: "put", type: webhookEventRecord, value, replacing: null });
      unit.due({ op: "schedule", row: eventCleanup(eventId, createdAtMs + limits["keep.deliveries"]) });
      for (const { value: webhook } of webhooks) {
        const { webhookId } = webhook;
        unit.create(deliveryKind, toDeliveryId(eventId, webhookId), { webhookId, eventId, event, createdAtMs });
      }
    },
  };
}
