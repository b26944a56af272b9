/** Defines the two actor kinds of webhooks: the delivery of one event, and the health of an endpoint. */
import type { Limits } from "../../../api/limits.ts";
import { createDeliveryMachine, type DeliveryContext, type DeliveryEvent } from "../../../machines/delivery.ts";
import { type AutoDisable, createEndpointMachine, type EndpointContext, type EndpointEvent } from "../../../machines/endpoint.ts";
import type { ActorKind } from "../../platform/actors/port.ts";
import { deliveryRecord, endpointRecord } from "./records.ts";

export type DeliveryKind = ActorKind<DeliveryContext, DeliveryEvent, "deliver">;
export type EndpointKind = ActorKind<EndpointContext, EndpointEvent, never>;

/** `scheduleMs` holds the waiting times before each attempt, in milliseconds (`WEBHOOK_RETRY_SCHEDULE`). */
export function defineDeliveryKind(limits: Limits, scheduleMs: readonly number[]): DeliveryKind {
  return {
    name: "delivery",
    machine: createDeliveryMachine({
      scheduleMs,
      maxRetryAfterMs: limits["webhook.retryAfter"],
      keepMs: limits["keep.deliveries"],
    }),
    machineVersion: 1,
    record: deliveryRecord,
    effects: ["deliver"],
    commands: [],
    maxInFlight: limits["webhook.inFlightProcess"],
    lane: ({ webhookId }) => ({ name: webhookId, max: limits["webhook.inFlight"], maxInCrowd: 1 }),
  };
}

/** `autoDisable` is the policy for disabling a failing webhook (`WEBHOOK_AUTO_DISABLE`). */
export function defineEndpointKind(autoDisable: AutoDisable): EndpointKind {
  return {
    name: "endpoint",
    machine: createEndpointMachine(autoDisable),
    machineVersion: 1,
    record: endpointRecord,
    effects: [],
    commands: ["webhook.disabled", "webhook.enabled"],
  };
}
