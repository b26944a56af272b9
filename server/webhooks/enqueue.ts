/**
 * The outbox: what happened becomes deliveries in the same commit that makes it true, one for each webhook that is
 * active and subscribed at that moment. So no event is lost that was committed, and none is sent that was not.
 *
 * The body is fixed here; delivery ids follow from event and webhook. It commits nothing itself.
 */
import type { Limits } from "../../api/limits.ts";
import type { WorkspaceWebhookEventType } from "../../api/schema/webhook.ts";
import type { ActorRuntime, Alongside } from "../actors/port.ts";
import { type IdSource, partitionOfId } from "../ids.ts";
import type { DueWrite, RecordWrite, Storage } from "../storage/port.ts";
import { eventCleanup } from "./cleanup.ts";
import type { DeliveryKind } from "./deliver.ts";
import { toDeliveryId } from "./deliveryId.ts";
import { toEventBody } from "./payload.ts";
import { type WebhookEventRecord, webhookEventRecord } from "./records.ts";
import { webhooksOf } from "./subscriptions.ts";

export interface WorkspaceEvent {
  readonly workspaceId: string;
  readonly event: WorkspaceWebhookEventType;
  /** Store time of what happened. */
  readonly createdAtMs: number;
  /** Source of the event's id: the same on a repeat of the same call. */
  readonly ids: IdSource;
  readonly data: object;
  /** Trace context (W3C) of the request that caused it; goes with every attempt. */
  readonly traceparent?: string | undefined;
}

export interface Enqueue {
  /** Changes for the commit of what happened; call `started` once that commit stands. */
  enqueue(event: WorkspaceEvent): Promise<Alongside & { readonly started: () => void }>;
}

export interface EnqueueOptions {
  readonly storage: Pick<Storage, "index" | "records">;
  readonly actors: Pick<ActorRuntime, "birth">;
  readonly deliveryKind: DeliveryKind;
  readonly limits: Limits;
}

export function createEnqueue({ storage, actors, deliveryKind, limits }: EnqueueOptions): Enqueue {
  return {
    async enqueue({ workspaceId, event, createdAtMs, ids, data, traceparent }) {
      // Taken first: a repeat of the call must find the ids after it unchanged, whoever listens by then.
      const eventId = ids.next("evt", partitionOfId(workspaceId));
      const webhooks = (await webhooksOf(storage, workspaceId)).filter(({ value }) => value.active && value.events.includes(event));
      if (webhooks.length === 0) return { started: () => {} };

      const createdAt = new Date(createdAtMs).toISOString();
      const body = toEventBody({ id: eventId, event, createdAt, workspaceId, data }, limits["webhook.payload"]);
      const kept: RecordWrite<WebhookEventRecord> = {
        op: "put",
        type: webhookEventRecord,
        value: { eventId, event, workspaceId, body, createdAtMs, ...(traceparent === undefined ? {} : { traceparent }) },
        replacing: null,
      };
      const births = webhooks.map(({ value: { webhookId } }) =>
        actors.birth(deliveryKind, toDeliveryId(eventId, webhookId), { webhookId, eventId, event, createdAtMs }),
      );
      const cleanup: DueWrite = { op: "schedule", row: eventCleanup(eventId, createdAtMs + limits["keep.deliveries"]) };
      return {
        records: [kept, ...births.flatMap((birth) => birth.batch.records ?? [])],
        due: [cleanup, ...births.flatMap((birth) => birth.batch.due ?? [])],
        started() {
          for (const birth of births) birth.started();
        },
      };
    },
  };
}
