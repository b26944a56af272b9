/**
 * This module deletes data whose owner is gone: the deliveries of a deleted webhook, and the body of an event that no
 * delivery needs any more. Each deletion is a due row, scheduled in the commit of its cause. A deletion may run twice
 * or be interrupted at any point; the result is the same.
 */
import { type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { DueRow, Storage } from "../../platform/storage/port.ts";
import type { DeliveryKind } from "./kinds.ts";
import { deliveryRecord, webhookEventRecord } from "./records.ts";

const purgeRows = defineDueKind<{ readonly webhookId: string }>("webhook.purge");
const eventRows = defineDueKind<{ readonly eventId: string }>("webhook.event");
const chunk = 100;
/** A body that is still needed is checked again after this time. */
const recheckMs = 24 * 60 * 60 * 1000;

/** Returns the due row that removes the delivery log of a webhook. Schedule it in the commit that deletes the webhook. */
export function webhookPurge(webhookId: string, dueAtMs: number): DueRow {
  return purgeRows.row({ id: `${purgeRows.name}/${webhookId}`, dueAtMs, payload: { webhookId } });
}

/**
 * Returns the due row that removes the body of an event after its last delivery. Schedule it in the commit that creates
 * the event.
 */
export function eventCleanup(eventId: string, dueAtMs: number): DueRow {
  return eventRows.row({ id: `${eventRows.name}/${eventId}`, dueAtMs, payload: { eventId } });
}

export interface WebhookCleanupOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "remove">;
  readonly deliveryKind: DeliveryKind;
}

/** Creates the workers for the due pump, by kind of due row. */
export function createWebhookCleanup({ storage, actors, deliveryKind }: WebhookCleanupOptions): Readonly<Record<string, DueWorker>> {
  const purge = purgeRows.worker(async ({ partition, payload: { webhookId } }, signal) => {
    while (!signal.aborted) {
      const rows = await storage.index.scan({ partition, prefix: ["delivery.webhook", webhookId], limit: chunk });
      if (rows.length === 0) return { kind: "done" };
      const deliveries = await storage.records.getMany(
        deliveryRecord,
        rows.map((row) => row.target),
      );
      // A delivery that changes during the scan is not removed now; the next round finds it again.
      await Promise.all(deliveries.map((stored) => stored && actors.remove(deliveryKind, stored.value.id, stored)));
    }
    return { kind: "retry", atMs: storage.now() };
  });

  const collect = eventRows.worker(async ({ partition, id, fence, payload: { eventId } }) => {
    const needed = await storage.index.scan({ partition, prefix: ["delivery.event", eventId], limit: 1 });
    if (needed.length > 0) return { kind: "retry", atMs: storage.now() + recheckMs };
    const stored = await storage.records.get(webhookEventRecord, eventId);
    if (stored === undefined) return { kind: "done" };
    await storage.commit({
      partition,
      records: [{ op: "delete", type: webhookEventRecord, replacing: stored }],
      due: [{ op: "acknowledge", id, fence }],
    });
    return { kind: "settled" };
  });

  return { [purgeRows.name]: purge, [eventRows.name]: collect };
}
