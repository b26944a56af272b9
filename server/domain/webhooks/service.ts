/** Builds the webhooks domain: its requests, the deliveries that join the commits of articles, and the effect that sends them. */
import type { AutoDisable } from "../../../machines/endpoint.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Secrets } from "../../platform/secrets.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners } from "../articles/port.ts";
import type { ReviewListeners } from "../reviews/port.ts";
import { createWebhookCleanup } from "./cleanup.ts";
import { createDeliver, type DeliverOptions } from "./deliver.ts";
import { createEnqueue, type Enqueue } from "./enqueue.ts";
import { defineDeliveryKind, defineEndpointKind } from "./kinds.ts";
import { createReviewEvents } from "./reviewEvents.ts";
import { createWebhooks, type WebhooksOptions } from "./webhooks.ts";

export interface WebhookServiceOptions extends Omit<DeliverOptions, "endpointKind">, Pick<WebhooksOptions, "pump" | "checkUrl" | "pager"> {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly secrets: Secrets;
  /** Waiting times before each attempt, in milliseconds (`WEBHOOK_RETRY_SCHEDULE`). */
  readonly scheduleMs: readonly number[];
  /** Policy for disabling a failing webhook (`WEBHOOK_AUTO_DISABLE`). */
  readonly autoDisable: AutoDisable;
}

export interface WebhookService {
  /** The handlers of the operations on webhooks. */
  readonly webhooks: ReturnType<typeof createWebhooks>;
  readonly enqueue: Enqueue["enqueue"];
  readonly listeners: Pick<ArticleListeners, "articleUpdated">;
  readonly reviewListeners: Pick<ReviewListeners, "reviewCreated" | "reviewReplied">;
  readonly manifest: Manifest;
}

export function createWebhookService(options: WebhookServiceOptions): WebhookService {
  const { storage, actors, limits, scheduleMs, autoDisable } = options;
  const deliveryKind = defineDeliveryKind(limits, scheduleMs);
  const endpointKind = defineEndpointKind(autoDisable);
  const { enqueue } = createEnqueue({ storage, deliveryKind, limits });
  return {
    webhooks: createWebhooks({ ...options, endpointKind }),
    enqueue,
    listeners: { articleUpdated: (unit, event) => enqueue(unit, { event: "article.updated", ...event }) },
    reviewListeners: createReviewEvents(enqueue),
    manifest: {
      name: "webhooks",
      actorKinds: [provide(deliveryKind, { deliver: createDeliver({ ...options, endpointKind }) }), provide(endpointKind, {})],
      workers: createWebhookCleanup({ storage, actors, deliveryKind }),
    },
  };
}
