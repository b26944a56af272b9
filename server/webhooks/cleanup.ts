/**
 * What goes when something else has gone: the deliveries of a deleted webhook, and the body of an event once no
 * delivery needs it. Both are due rows, written in the commit of their cause, and may be done twice or cut off
 * anywhere to the same end.
 */
import type { ActorRuntime, DueWorker } from "../actors/port.ts";
import type { DueRow, Storage } from "../storage/port.ts";
import type { DeliveryKind } from "./deliver.ts";
import { deliveryRecord, webhookEventRecord } from "./records.ts";

const purgeKind = "webhook.purge";
const eventKind = "webhook.event";
const chunk = 100;
/** A body that is still needed is looked at again after so long. */
const stillNeededMs = 24 * 60 * 60 * 1000;

/** Removes the delivery log of a webhook; schedule it in the commit that deletes the webhook. */
export function webhookPurge(webhookId: string, dueAtMs: number): DueRow {
  return { id: `${purgeKind}/${webhookId}`, kind: purgeKind, dueAtMs, payload: { webhookId }, attempts: 0 };
}

/** Removes the body of an event when its last delivery is gone; schedule it in the commit that makes the event. */
export function eventCleanup(eventId: string, dueAtMs: number): DueRow {
  return { id: `${eventKind}/${eventId}`, kind: eventKind, dueAtMs, payload: { eventId }, attempts: 0 };
}

export interface WebhookCleanupOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "remove">;
  readonly deliveryKind: DeliveryKind;
}

/** For the due pump: who runs rows of which kind. */
export function createWebhookCleanup({ storage, actors, deliveryKind }: WebhookCleanupOptions): Readonly<Record<string, DueWorker>> {
  const purge: DueWorker = async ({ partition, payload }, signal) => {
    const { webhookId } = payload as { readonly webhookId: string };
    while (!signal.aborted) {
      const rows = await storage.index.scan({ partition, prefix: ["delivery.webhook", webhookId], limit: chunk });
      if (rows.length === 0) return { kind: "done" };
      const deliveries = await storage.records.getMany(
        deliveryRecord,
        rows.map((row) => row.target),
      );
      // A delivery that moves meanwhile stays, and is met again in the next round.
      await Promise.all(deliveries.map((stored) => stored && actors.remove(deliveryKind, stored.value.id, stored)));
    }
    return { kind: "retry", atMs: storage.now() };
  };

  const collect: DueWorker = async ({ partition, id, fence, payload }) => {
    const { eventId } = payload as { readonly eventId: string };
    const needed = await storage.index.scan({ partition, prefix: ["delivery.event", eventId], limit: 1 });
    if (needed.length > 0) return { kind: "retry", atMs: storage.now() + stillNeededMs };
    const stored = await storage.records.get(webhookEventRecord, eventId);
    if (stored === undefined) return { kind: "done" };
    await storage.commit({
      partition,
      records: [{ op: "delete", type: webhookEventRecord, replacing: stored }],
      due: [{ op: "acknowledge", id, fence }],
    });
    return { kind: "settled" };
  };

  return { [purgeKind]: purge, [eventKind]: collect };
}
