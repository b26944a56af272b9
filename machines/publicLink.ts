/**
 * PublicLink is the state machine of an article's public link: unpublished, Live, Snapshot or expired.
 *
 * The page shows frozen content in both modes. A Live link freezes new content after durable edits, at most once per
 * second. A failed synchronization is retried with growing delays. After the last retry the link waits for the next edit
 * or a request, which starts a new series. Each synchronization has a round number, so that a late result of an earlier
 * round is ignored. Each change of the shown text or mode is a fact; the history of the page is made of these facts.
 *
 * A timer ends the publication at `expiresAtMs`. An expired link keeps its mode and its content. The link is public again
 * when a request removes the time or moves it into the future.
 * The machine must not read documents: it receives the frozen content in events.
 */
import { and, assertEvent, assign, not, setup } from "xstate";
import type { PublicLinkMode } from "../api/schema/article.ts";
import { effect, fact, timer } from "./effect.ts";
import {
  isOpenAfter,
  toCounted,
  toExpiryTimer,
  toFailed,
  toFreshSync,
  toMode,
  toRetryWaitMs,
  toShown,
  toSynced,
} from "./publicLinkChanges.ts";
import type { PublicLinkContext, PublicLinkEvent, PublicLinkInput, ShownFact } from "./publicLinkContext.ts";

export * from "./publicLinkContext.ts";

/** Shortest time between the starts of two synchronizations after edits of one article, in ms. */
export const syncPauseMs = 1000;

/** Reports the shown text and mode after a change of the mode. */
function shownIn(mode: PublicLinkMode) {
  return { type: "shown", params: ({ context }: { readonly context: PublicLinkContext }) => toShown(mode, context.content) } as const;
}

/** Reports the text of the event. Must precede the action that replaces the content, because it compares the two. */
function replacedIn(mode: PublicLinkMode) {
  const params = ({ context, event }: { readonly context: PublicLinkContext; readonly event: PublicLinkEvent }): ShownFact => {
    const content = "content" in event ? event.content : undefined;
    return content?.contentHash === context.content?.contentHash ? null : toShown(mode, content);
  };
  return { type: "shown", params } as const;
}

const setExpiry = { type: "timer", params: ({ context }: { readonly context: PublicLinkContext }) => toExpiryTimer(context) } as const;
const cancelExpiry = { type: "timer", params: { name: "expiry", atMs: null } } as const;

export const publicLinkMachine = setup({
  types: { context: {} as PublicLinkContext, events: {} as PublicLinkEvent, input: {} as PublicLinkInput },
  actions: {
    timer,
    /** Freezes the text of the document; answers with `sync.succeeded` or `sync.failed` and the same round. */
    sync: effect<{ readonly round: number }>(),
    /** Records which text the page shows from now on. */
    shown: fact<ShownFact>(),
    /** Records that the page shows no text from now on. */
    hidden: fact<undefined>(),
    enterMode: assign(({ context, event }) => {
      assertEvent(event, ["link.makeLive", "link.makeSnapshot"]);
      return toMode(context, event);
    }),
    notePublication: assign(({ event }) => {
      assertEvent(event, ["link.makeLive", "link.makeSnapshot"]);
      return { publishedAtMs: event.nowMs, publishedBy: event.by };
    }),
    changeSettings: assign(({ context, event }) => {
      assertEvent(event, "link.change");
      return { ...event.settings, ...toCounted(context), updatedAtMs: event.nowMs };
    }),
    refreshSnapshot: assign(({ context, event }) => {
      assertEvent(event, "link.refresh");
      const { content, nowMs } = event;
      return { ...toCounted(context), content, contentAtMs: nowMs, snapshotAtMs: nowMs, updatedAtMs: nowMs };
    }),
    noteExpiry: assign(({ context }) => toCounted(context)),
    takeDown: assign(({ context, event }) => ({
      ...toCounted(context),
      content: undefined,
      contentAtMs: undefined,
      snapshotAtMs: undefined,
      expiresAtMs: undefined,
      updatedAtMs: event.nowMs,
    })),
    noteEdit: assign({
      sync: ({ context, event }) => {
        assertEvent(event, "article.edited");
        return { ...context.sync, sourceRevision: Math.max(context.sync.sourceRevision, event.revision) };
      },
    }),
    markStale: assign({ sync: ({ context }) => ({ ...context.sync, stale: true }) }),
    beginSync: assign({
      sync: ({ context, event }) => {
        const { nextRetryAtMs: _nextRetryAtMs, ...sync } = context.sync;
        return { ...sync, round: sync.round + 1, startedAtMs: event.nowMs, stale: false };
      },
    }),
    /** Starts a new series of attempts, after a request or after an edit that no attempt has read. */
    resetAttempts: assign({ sync: ({ context }) => ({ ...context.sync, attempts: 0 }) }),
    noteSynced: assign(({ context, event }) => {
      assertEvent(event, "sync.succeeded");
      return toSynced(context, event);
    }),
    noteFailed: assign(({ context, event }) => {
      assertEvent(event, "sync.failed");
      return toFailed(context, event);
    }),
  },
  guards: {
    isSnapshot: ({ context }) => context.snapshotAtMs !== undefined,
    isOpenAfter: ({ context, event }) => isOpenAfter(context, event),
    /** True if at least `syncPauseMs` has passed since the last synchronization began. */
    syncPauseIsOver: ({ context, event }) => event.nowMs >= context.sync.startedAtMs + syncPauseMs,
    isCurrent: ({ context, event }) => "round" in event && event.round === context.sync.round,
    isStale: ({ context }) => context.sync.stale,
    mayRetry: ({ context, event }) => {
      assertEvent(event, "sync.failed");
      return toRetryWaitMs(context, event) !== undefined;
    },
  },
}).createMachine({
  id: "publicLink",
  context: ({ input }) => ({
    articleId: input.articleId,
    workspaceId: input.workspaceId,
    slug: input.slug,
    indexable: input.indexable,
    gate: input.gate ?? "off",
    expiresAtMs: input.expiresAtMs,
    publishedAtMs: input.nowMs,
    publishedBy: input.by,
    updatedAtMs: input.nowMs,
    ...toCounted({}),
    content: input.content,
    contentAtMs: input.nowMs,
    ...(input.mode === "snapshot" ? { snapshotAtMs: input.nowMs } : {}),
    sync: toFreshSync(input.content, 0, input.nowMs),
  }),
  initial: "publishing",
  states: {
    publishing: { always: [{ guard: "isSnapshot", target: "snapshot" }, { target: "live" }] },
    live: {
      initial: "synced",
      entry: [shownIn("live"), setExpiry],
      exit: cancelExpiry,
      on: {
        "link.makeSnapshot": { target: "snapshot", actions: "enterMode" },
        "link.change": { actions: ["changeSettings", setExpiry] },
        "link.unpublish": { target: "unpublished", actions: ["takeDown", "hidden"] },
        "expiry.due": { target: "expired", actions: ["noteExpiry", "hidden"] },
      },
      states: {
        synced: {
          on: {
            // The first edit is synchronized at once. An edit within `syncPauseMs` after that waits for the end of the pause.
            "article.edited": [
              { guard: "syncPauseIsOver", target: "syncing", actions: "noteEdit" },
              { target: "pending", actions: "noteEdit" },
            ],
          },
        },
        pending: {
          entry: {
            type: "timer",
            params: ({ context }) => ({
              name: "pause",
              atMs: context.sync.startedAtMs + syncPauseMs,
              event: { type: "pause.over" },
              keep: true,
            }),
          },
          exit: { type: "timer", params: { name: "pause", atMs: null } },
          on: { "article.edited": { actions: "noteEdit" }, "pause.over": "syncing" },
        },
        syncing: {
          entry: ["beginSync", { type: "sync", params: ({ context }) => ({ round: context.sync.round }) }],
          on: {
            "article.edited": { actions: ["noteEdit", "markStale"] },
            "sync.succeeded": [
              {
                guard: and(["isCurrent", "isStale", "syncPauseIsOver"]),
                target: "syncing",
                reenter: true,
                actions: [replacedIn("live"), "noteSynced"],
              },
              { guard: and(["isCurrent", "isStale"]), target: "pending", actions: [replacedIn("live"), "noteSynced"] },
              { guard: "isCurrent", target: "synced", actions: [replacedIn("live"), "noteSynced"] },
            ],
            "sync.failed": [
              { guard: and(["isCurrent", "mayRetry"]), target: "retrying", actions: "noteFailed" },
              { guard: and(["isCurrent", "isStale"]), target: "pending", actions: ["noteFailed", "resetAttempts"] },
              { guard: "isCurrent", target: "failed", actions: "noteFailed" },
            ],
          },
        },
        retrying: {
          entry: {
            type: "timer",
            params: ({ context }) => ({
              name: "retry",
              atMs: context.sync.nextRetryAtMs ?? context.sync.startedAtMs,
              event: { type: "retry.due" },
              keep: true,
            }),
          },
          exit: { type: "timer", params: { name: "retry", atMs: null } },
          on: {
            "article.edited": { actions: "noteEdit" },
            "retry.due": "syncing",
            "link.sync": { target: "syncing", actions: "resetAttempts" },
          },
        },
        failed: {
          on: {
            "article.edited": { target: "pending", actions: ["noteEdit", "resetAttempts"] },
            "link.sync": { target: "syncing", actions: "resetAttempts" },
          },
        },
      },
    },
    snapshot: {
      entry: [shownIn("snapshot"), setExpiry],
      exit: cancelExpiry,
      on: {
        "link.makeLive": { target: "live", actions: "enterMode" },
        "link.change": { actions: ["changeSettings", setExpiry] },
        "link.refresh": { actions: [replacedIn("snapshot"), "refreshSnapshot"] },
        "link.unpublish": { target: "unpublished", actions: ["takeDown", "hidden"] },
        "expiry.due": { target: "expired", actions: ["noteExpiry", "hidden"] },
      },
    },
    expired: {
      on: {
        "link.makeLive": [{ guard: "isOpenAfter", target: "live", actions: "enterMode" }, { actions: "enterMode" }],
        "link.makeSnapshot": [{ guard: "isOpenAfter", target: "snapshot", actions: "enterMode" }, { actions: "enterMode" }],
        // A Live page becomes public again with its newest text, which only `link.makeLive` carries.
        "link.change": [
          { guard: and(["isOpenAfter", "isSnapshot"]), target: "snapshot", actions: "changeSettings" },
          { guard: not("isOpenAfter"), actions: "changeSettings" },
        ],
        "link.refresh": { guard: "isSnapshot", actions: "refreshSnapshot" },
        "link.unpublish": { target: "unpublished", actions: "takeDown" },
      },
    },
    unpublished: {
      on: {
        "link.makeLive": { target: "live", actions: ["enterMode", "notePublication"] },
        "link.makeSnapshot": { target: "snapshot", actions: ["enterMode", "notePublication"] },
      },
    },
  },
});
