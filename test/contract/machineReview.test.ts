/** Tests the review over all its paths: every state and move, each restored from its record. */
import { expect, test } from "vitest";
import {
  type ReviewContext,
  type ReviewEvent,
  type ReviewInput,
  reviewCommands,
  reviewMachine,
  type TextAnchor,
} from "../../machines/review.ts";
import type { ActorKind, ActorRecord } from "../../server/platform/actors/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { walkMachine } from "../support/walkMachine.ts";

const nowMs = 1_900_000_000_000;

const kind: ActorKind<ReviewContext, ReviewEvent> = {
  name: "review",
  machine: reviewMachine,
  machineVersion: 1,
  record: defineRecord<ActorRecord<ReviewContext>>({ name: "review", version: 1, partitionOf: () => 0, keyOf: ({ id }) => id }),
  effects: [],
  commands: reviewCommands,
};

const anchor: TextAnchor = {
  quote: "teh",
  prefix: "in ",
  suffix: " end",
  start: 3,
  end: 6,
  revision: 4,
  state: "anchored",
  isMoved: false,
  first: { client: 1, clock: 3 },
  last: { client: 1, clock: 5 },
};
const text = { body: "A typo?", mentions: [], unresolvedMentions: [] };
const input: ReviewInput = {
  nowMs,
  articleId: "art_1",
  workspaceId: "ws_1",
  kind: "comment",
  file: "content.md",
  anchor,
  author: { username: "ana", kind: "user" },
  ...text,
};
const suggestion: ReviewInput = { ...input, kind: "suggestion", replacement: "the" };

const later = { nowMs: nowMs + 1000 };
const by = { by: "bo", ...later };
const events = (): readonly ReviewEvent[] => [
  { type: "review.edit", text: { ...text, body: "A typo." }, ...later },
  { type: "review.resolve", ...by },
  { type: "review.reopen", ...by },
  { type: "review.accept", anchor: { ...anchor, state: "orphaned" }, ...by },
  { type: "review.reject", ...by },
  { type: "review.delete", ...by },
  { type: "reply.add", reply: { replyId: "rpl_1", author: { username: "bo", kind: "user" }, ...text }, ...later },
  { type: "reply.edit", replyId: "rpl_1", text: { ...text, body: "Yes." }, ...later },
  { type: "reply.delete", replyId: "rpl_1", ...later },
  { type: "anchor.placed", anchor: { ...anchor, state: "moved", isMoved: true }, ...later },
];

test("[RV1] a comment is open or resolved, a suggestion is open, accepted or rejected for good", () => {
  const moves = new Set<string>();
  const walk = walkMachine<ReviewContext, ReviewEvent>({
    kind,
    inputs: [{ ...input }, { ...suggestion }],
    events,
    // More than one reply is no new situation.
    facts: ({ kind: reviewKind, body, replies, anchor: placed, resolvedBy }) => [
      reviewKind,
      body,
      replies.length > 1 ? "several" : replies.map((reply) => reply.body),
      placed?.state,
      resolvedBy,
    ],
    check({ before, event, after }) {
      if (before.state !== after.state) moves.add(`${before.context.kind} ${before.state} ${event.type} ${after.state}`);
      if (after.state === "open") expect(after.context.resolvedBy).toBeUndefined();
      if (after.state !== "open" && after.state !== "removed") expect(after.context.resolvedBy).toBe("bo");
      const isFollowing = event.type === "anchor.placed";
      expect(after.context.metaRevision - before.context.metaRevision).toBe(isFollowing || after.state === "removed" ? 0 : 1);
      if (isFollowing) expect(after.context.updatedAtMs).toBe(before.context.updatedAtMs);
    },
  });
  expect([...moves].sort()).toEqual([
    "comment open review.delete removed",
    "comment open review.resolve resolved",
    "comment resolved review.delete removed",
    "comment resolved review.reopen open",
    "suggestion accepted review.delete removed",
    "suggestion open review.accept accepted",
    "suggestion open review.delete removed",
    "suggestion open review.reject rejected",
    "suggestion rejected review.delete removed",
  ]);
  expect(walk.unreachedStates).toEqual([]);
  expect(walk.untakenTransitions).toEqual([]);
});
