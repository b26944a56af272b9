/**
 * This module runs one attempt of a delivery (the effect of `machines/delivery.ts`).
 *
 * Each attempt reads the webhook again and skips the request if the webhook is deleted, disabled or unsubscribed. It is
 * read once more after the connection is established, because a slow endpoint may delay the connection. The request is
 * signed with the current secret. The outcome is an event of the delivery, committed together with the change of the
 * endpoint. The machine decides when to retry; the outbound module decides which addresses are allowed.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { DeliveryContext, DeliveryEvent, SkipReason } from "../../../machines/delivery.ts";
import type { EndpointEvent } from "../../../machines/endpoint.ts";
import type { ActorRuntime, RunEffect, Timeless, UnitOfWork } from "../../platform/actors/port.ts";
import type { OutboundFetch } from "../../platform/outbound/fetch.ts";
import { SealError, type Secrets } from "../../platform/secrets.ts";
import type { RecordWrite, Storage, Stored } from "../../platform/storage/port.ts";
import { type AttemptOutcome, isDelivered, toExchange, toRetryAfterMs } from "./attemptOutcome.ts";
import type { EndpointKind } from "./kinds.ts";
import { secretBinding, type WebhookRecord, webhookEventRecord, webhookRecord } from "./records.ts";
import { toSignatureHeaders } from "./sign.ts";

export interface WebhookObserver {
  /** Called when an attempt ended, with its duration in milliseconds. `failed` includes every response except 2xx. */
  attempt(outcome: "delivered" | "failed" | "skipped", ms: number): void;
}

export interface DeliverOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "refusal">;
  readonly endpointKind: EndpointKind;
  readonly fetch: OutboundFetch;
  readonly secrets: Pick<Secrets, "open">;
  readonly limits: Limits;
  readonly log: Logger;
  readonly observe?: WebhookObserver;
  /** Random number from 0 to 1, for the jitter. */
  readonly random?: () => number;
}

function toSkipReason(webhook: WebhookRecord | undefined, event: string): SkipReason | undefined {
  if (webhook === undefined) return "webhook_deleted";
  if (!webhook.active) return "webhook_disabled";
  return (webhook.events as readonly string[]).includes(event) ? undefined : "event_unsubscribed";
}

export function createDeliver(options: DeliverOptions): RunEffect<DeliveryContext, DeliveryEvent> {
  const { storage, actors, endpointKind, fetch, secrets, limits, log, observe, random = Math.random } = options;
  const audit = log.child({ stream: "audit" });

  /** Returns the secret, or `undefined` when the service no longer has the key that sealed it. */
  function open(webhookId: string, sealed: string): string | undefined {
    try {
      return Buffer.from(secrets.open(secretBinding(webhookId), sealed)).toString();
    } catch (reason) {
      if (reason instanceof SealError) return undefined;
      throw reason;
    }
  }

  function sign({ webhookId, secret: sealed, previousSecret: previous }: WebhookRecord, deliveryId: string, body: string, nowMs: number) {
    const secret = open(webhookId, sealed);
    if (secret === undefined) return undefined;
    const previousSecret = previous !== undefined && nowMs < previous.validUntilMs ? open(webhookId, previous.sealed) : undefined;
    return toSignatureHeaders({ deliveryId, timestamp: Math.floor(nowMs / 1000), body, secret, previousSecret });
  }

  /** Changes the endpoint after an attempt and, if the configured policy disables the endpoint, the webhook too. */
  async function changeEndpoint(unit: UnitOfWork, webhookId: string, event: Timeless<EndpointEvent>): Promise<void> {
    const endpoint = await unit.read(endpointKind, webhookId);
    if (endpoint === undefined || actors.refusal(endpointKind, endpoint.value, event) !== undefined) return;
    const { state, context } = await unit.send(endpointKind, webhookId, event);
    if (state !== "disabled") return;
    const webhook = await storage.records.get(webhookRecord, webhookId);
    if (webhook !== undefined) unit.record(toDisabled(webhook, storage.now()));
    unit.afterCommit(() => audit.info({ event: "webhook.disabled", webhookId, reason: context.disabledReason }, "webhook disabled"));
  }

  return async ({ actorId: deliveryId, attempt, context, signal }) => {
    const { webhookId, eventId, event, attempts } = context;
    const read = async () => (await storage.records.get(webhookRecord, webhookId))?.value;
    const webhook = await read();
    const reason = toSkipReason(webhook, event);
    if (webhook === undefined || reason !== undefined) {
      observe?.attempt("skipped", 0);
      return { kind: "event", event: { type: "attempt.skipped", reason: reason ?? "webhook_deleted" } };
    }
    const kept = await storage.records.get(webhookEventRecord, eventId);
    if (kept === undefined) throw new Error(`the body of ${eventId} was removed before its delivery`);
    const { body, traceparent } = kept.value;

    const n = (attempts.at(-1)?.n ?? 0) + attempt;
    const atMs = storage.now();
    const signatures = sign(webhook, deliveryId, body, atMs);
    const headers: Record<string, string> = {
      "content-type": "application/json",
      "user-agent": "svc-webhooks/1",
      "x-svc-event": event,
      "x-svc-delivery": deliveryId,
      "x-svc-attempt": String(n),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...signatures,
    };
    const startedAt = performance.now();
    async function isStillWanted(): Promise<boolean> {
      const now = await read();
      return now !== undefined && toSkipReason(now, event) === undefined && now.url === webhook?.url;
    }
    const outcome: AttemptOutcome | { readonly kind: "withheld" } =
      signatures === undefined
        ? { kind: "failed", reason: "secret_unavailable" }
        : await fetch({
            url: webhook.url,
            method: "POST",
            headers,
            body,
            totalMs: limits["webhook.totalMs"],
            connectMs: limits["webhook.connectMs"],
            maxResponseBytes: limits["webhook.response"],
            signal,
            isStillWanted,
          });
    if (outcome.kind === "withheld") {
      // The retry reads the changed webhook and decides again.
      return { kind: "retry", atMs: storage.now(), reason: "the webhook was changed during the attempt" };
    }
    const durationMs = Math.round(performance.now() - startedAt);
    const delivered = isDelivered(outcome);
    const result = outcome.kind === "answered" ? { statusCode: outcome.status } : { error: outcome.reason };
    observe?.attempt(delivered ? "delivered" : "failed", durationMs);
    log.info({ deliveryId, webhookId, attempt: n, durationMs, ...result }, delivered ? "webhook delivered" : "webhook attempt failed");

    const made = { attempt: { n, atMs, durationMs, ...result }, exchange: toExchange(headers, outcome, limits["webhook.responseKept"]) };
    if (delivered) {
      const gather = (unit: UnitOfWork) => changeEndpoint(unit, webhookId, { type: "attempt.delivered" });
      return { kind: "event", event: { type: "attempt.delivered", ...made }, gather };
    }
    const retryAfterMs = toRetryAfterMs(outcome, storage.now());
    const failed = { type: "attempt.failed", ...made, jitter: random(), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } as const;
    const gather = (unit: UnitOfWork) => changeEndpoint(unit, webhookId, { type: "attempt.failed", statusCode: result.statusCode });
    return { kind: "event", event: failed, gather };
  };
}

function toDisabled(replacing: Stored<WebhookRecord>, nowMs: number): RecordWrite<WebhookRecord> {
  return { op: "put", type: webhookRecord, value: { ...replacing.value, active: false, updatedAtMs: nowMs }, replacing };
}
