/** This module defines the review as an actor kind. A review has no effects and no timers. */
import { type ReviewContext, type ReviewEvent, reviewCommands, reviewMachine } from "../../../machines/review.ts";
import type { ActorKind } from "../../platform/actors/port.ts";
import { reviewRecord } from "./records.ts";

export type ReviewKind = ActorKind<ReviewContext, ReviewEvent, never>;

export const reviewKind: ReviewKind = {
  name: "review",
  machine: reviewMachine,
  machineVersion: 1,
  record: reviewRecord,
  effects: [],
  commands: reviewCommands,
};
