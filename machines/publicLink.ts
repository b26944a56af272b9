/**
 * PublicLink is the state machine of an article's public link: unpublished, Live or Snapshot.
 *
 * The page shows frozen content in both modes. A Live link freezes new content after durable edits, at most once per
 * second. A failed synchronization is retried with growing delays. After the last retry the link waits for the next edit
 * or a request, which starts a new series. Each synchronization has a round number, so that a late result of an earlier
 * round is ignored. Each change of the shown text or mode is a fact; the history of the page is made of these facts.
 * The machine must not read documents: it receives the frozen content in events.
 */
import { and, assertEvent, assign, setup } from "xstate";
import type { PublicLinkMode } from "../api/schema/article.ts";
import { effect, fact, timer } from "./effect.ts";
import type {
  FrozenContent,
  LiveSyncContext,
  PublicLinkContext,
  PublicLinkEvent,
  PublicLinkInput,
  ShownFact,
} from "./publicLinkContext.ts";

export * from "./publicLinkContext.ts";

/** Delays in ms after the 1st … 5th failure. The 6th failure ends the series. */
const retryWaitsMs: readonly number[] = [5000, 30_000, 120_000, 600_000, 1_800_000];
/** Largest jitter as a share of the delay. Jitter is only added. */
const maxJitter = 0.2;
/** Shortest time between the starts of two synchronizations after edits of one article, in ms. */
export const syncPauseMs = 1000;

type EventOf<Type extends PublicLinkEvent["type"]> = Extract<PublicLinkEvent, { readonly type: Type }>;
type Publish = EventOf<"link.makeLive" | "link.makeSnapshot">;

/** Returns the state after a request that carries frozen content: like a successful synchronization, the page is current. */
function toFreshSync(content: FrozenContent, round: number, nowMs: number): LiveSyncContext {
  return { sourceRevision: content.revision, round, startedAtMs: nowMs, stale: false, attempts: 0, lastSyncedAtMs: nowMs };
}

/** Returns the context changes for entering Live or Snapshot with the content of the event. */
function toMode(context: PublicLinkContext, { type, content, settings, nowMs }: Publish): Partial<PublicLinkContext> {
  return {
    ...settings,
    content,
    updatedAtMs: nowMs,
    snapshotAtMs: type === "link.makeSnapshot" ? nowMs : undefined,
    sync: toFreshSync(content, context.sync.round, nowMs),
  };
}

function toSynced(context: PublicLinkContext, { content, nowMs }: EventOf<"sync.succeeded">): PublicLinkContext {
  const { round, startedAtMs, stale, sourceRevision } = context.sync;
  return {
    ...context,
    content,
    updatedAtMs: nowMs,
    sync: {
      sourceRevision: Math.max(sourceRevision, content.revision),
      round,
      startedAtMs,
      stale,
      attempts: 0,
      lastSyncedAtMs: nowMs,
    },
  };
}

/** Returns the delay before the next attempt after this failure, or undefined if no attempt is left. */
function toRetryWaitMs({ sync }: PublicLinkContext, { jitter }: EventOf<"sync.failed">): number | undefined {
  const waitMs = retryWaitsMs[sync.attempts];
  return waitMs === undefined ? undefined : Math.round(waitMs * (1 + maxJitter * jitter));
}

function toFailed(context: PublicLinkContext, event: EventOf<"sync.failed">): PublicLinkContext {
  const { nextRetryAtMs: _nextRetryAtMs, ...sync } = context.sync;
  const waitMs = toRetryWaitMs(context, event);
  const next = waitMs === undefined ? {} : { nextRetryAtMs: event.nowMs + waitMs };
  return { ...context, sync: { ...sync, attempts: sync.attempts + 1, lastError: event.reason, ...next } };
}

function toShown(mode: PublicLinkMode, content: FrozenContent | undefined): ShownFact {
  return content === undefined ? null : { mode, revision: content.revision, contentHash: content.contentHash };
}

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
    changeSettings: assign(({ event }) => {
      assertEvent(event, "link.change");
      return { ...event.settings, updatedAtMs: event.nowMs };
    }),
    refreshSnapshot: assign(({ event }) => {
      assertEvent(event, "link.refresh");
      return { content: event.content, snapshotAtMs: event.nowMs, updatedAtMs: event.nowMs };
    }),
    takeDown: assign(({ event }) => ({ content: undefined, snapshotAtMs: undefined, updatedAtMs: event.nowMs })),
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
    publishedAtMs: input.nowMs,
    publishedBy: input.by,
    updatedAtMs: input.nowMs,
    content: input.content,
    ...(input.mode === "snapshot" ? { snapshotAtMs: input.nowMs } : {}),
    sync: toFreshSync(input.content, 0, input.nowMs),
  }),
  initial: "publishing",
  states: {
    publishing: { always: [{ guard: "isSnapshot", target: "snapshot" }, { target: "live" }] },
    live: {
      initial: "synced",
      entry: shownIn("live"),
      on: {
        "link.makeSnapshot": { target: "snapshot", actions: "enterMode" },
        "link.change": { actions: "changeSettings" },
        "link.unpublish": { target: "unpublished", actions: "takeDown" },
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
      entry: shownIn("snapshot"),
      on: {
        "link.makeLive": { target: "live", actions: "enterMode" },
        "link.change": { actions: "changeSettings" },
        "link.refresh": { actions: [replacedIn("snapshot"), "refreshSnapshot"] },
        "link.unpublish": { target: "unpublished", actions: "takeDown" },
      },
    },
    unpublished: {
      entry: "hidden",
      on: {
        "link.makeLive": { target: "live", actions: ["enterMode", "notePublication"] },
        "link.makeSnapshot": { target: "snapshot", actions: ["enterMode", "notePublication"] },
      },
    },
  },
});
