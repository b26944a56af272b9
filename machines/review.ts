/**
 * Review is the state machine of a review: a comment is open or resolved, a suggestion is open, accepted or rejected.
 *
 * A resolved comment can be opened again; the decision about a suggestion is final. Texts and replies can change in every
 * state. The machine must not edit documents: the commit that takes `review.accept` also writes the replacement.
 */
import { assertEvent, assign, setup } from "xstate";
import type { ReplyContext, ReviewContext, ReviewEvent, ReviewInput } from "./reviewContext.ts";

export * from "./reviewContext.ts";

/** Events that every state accepts. */
const inEveryState = {
  "review.edit": { actions: "edit" },
  "review.delete": "removed",
  "reply.add": { actions: "addReply" },
  "reply.edit": { actions: "editReply" },
  "reply.delete": { actions: "deleteReply" },
} as const;

/** The text of an accepted suggestion is gone, so only the other states follow the text. */
const following = { "anchor.placed": { actions: "placeAnchor" } } as const;

function changed({ metaRevision }: ReviewContext, { nowMs }: ReviewEvent): Pick<ReviewContext, "metaRevision" | "updatedAtMs"> {
  return { metaRevision: metaRevision + 1, updatedAtMs: nowMs };
}

export const reviewMachine = setup({
  types: { context: {} as ReviewContext, events: {} as ReviewEvent, input: {} as ReviewInput, tags: {} as "removed" },
  actions: {
    edit: assign(({ context, event }) => {
      assertEvent(event, "review.edit");
      return { ...event.text, ...changed(context, event) };
    }),
    addReply: assign(({ context, event }) => {
      assertEvent(event, "reply.add");
      const reply: ReplyContext = { ...event.reply, createdAtMs: event.nowMs, updatedAtMs: event.nowMs };
      return { replies: [...context.replies, reply], ...changed(context, event) };
    }),
    editReply: assign(({ context, event }) => {
      assertEvent(event, "reply.edit");
      const { replyId, text, nowMs } = event;
      const edited = (reply: ReplyContext) => (reply.replyId === replyId ? { ...reply, ...text, updatedAtMs: nowMs } : reply);
      return { replies: context.replies.map(edited), ...changed(context, event) };
    }),
    deleteReply: assign(({ context, event }) => {
      assertEvent(event, "reply.delete");
      return { replies: context.replies.filter(({ replyId }) => replyId !== event.replyId), ...changed(context, event) };
    }),
    placeAnchor: assign(({ context, event }) => {
      assertEvent(event, ["anchor.placed", "review.accept"]);
      return { anchor: event.anchor ?? context.anchor };
    }),
    noteEnd: assign(({ context, event }) => {
      assertEvent(event, ["review.resolve", "review.accept", "review.reject"]);
      return { resolvedBy: event.by, resolvedAtMs: event.nowMs, ...changed(context, event) };
    }),
    clearEnd: assign(({ context, event }) => ({ resolvedBy: undefined, resolvedAtMs: undefined, ...changed(context, event) })),
  },
  guards: {
    isComment: ({ context }) => context.kind === "comment",
    isSuggestion: ({ context }) => context.kind === "suggestion",
  },
}).createMachine({
  id: "review",
  context: ({ input: { nowMs, ...review } }) => ({ ...review, replies: [], createdAtMs: nowMs, updatedAtMs: nowMs, metaRevision: 1 }),
  initial: "open",
  states: {
    open: {
      on: {
        ...inEveryState,
        ...following,
        "review.resolve": { guard: "isComment", target: "resolved", actions: "noteEnd" },
        "review.accept": { guard: "isSuggestion", target: "accepted", actions: ["placeAnchor", "noteEnd"] },
        "review.reject": { guard: "isSuggestion", target: "rejected", actions: "noteEnd" },
      },
    },
    resolved: { on: { ...inEveryState, ...following, "review.reopen": { target: "open", actions: "clearEnd" } } },
    accepted: { on: inEveryState },
    rejected: { on: { ...inEveryState, ...following } },
    removed: { tags: "removed" },
  },
});
