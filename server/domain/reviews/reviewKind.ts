/** This module defines the review as an actor kind. A review has no effects and no timers. */
import type { OperationKey } from "../../../api/contract/contract.ts";
import { type ReviewContext, type ReviewEvent, reviewCommands, reviewMachine } from "../../../machines/review.ts";
import type { ActorKind, CommandWords } from "../../platform/actors/port.ts";
import { reviewRecord } from "./records.ts";

export type ReviewKind = ActorKind<ReviewContext, ReviewEvent, never>;

const words: Readonly<Record<(typeof reviewCommands)[number], CommandWords<OperationKey>>> = {
  "review.edit": { asked: "change the text", operations: ["reviews.update"] },
  "review.resolve": { asked: "resolve a comment", operations: ["reviews.update"] },
  "review.reopen": { asked: "open a comment again", operations: ["reviews.update"] },
  "review.accept": { asked: "accept a suggestion", operations: ["reviews.accept"] },
  "review.reject": { asked: "reject a suggestion", operations: ["reviews.reject"] },
  "review.delete": { asked: "delete the review", operations: ["reviews.delete"] },
  "reply.add": { asked: "reply", operations: ["reviews.reply"] },
  "reply.edit": { asked: "change a reply", operations: ["reviews.updateReply"] },
  "reply.delete": { asked: "delete a reply", operations: ["reviews.deleteReply"] },
};

export const reviewKind: ReviewKind = {
  name: "review",
  machine: reviewMachine,
  machineVersion: 1,
  record: reviewRecord,
  effects: [],
  commands: reviewCommands,
  noun: ({ kind }) => kind,
  words,
};
