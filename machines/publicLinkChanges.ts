/**
 * PublicLinkChanges computes what the events of a public link change in its context.
 *
 * It must not decide which event is allowed in which state: the machine does that (`publicLink.ts`).
 */
import type { PublicLinkMode } from "../api/schema/article.ts";
import type { TimerParams } from "./effect.ts";
import type { FrozenContent, LinkSettings, LiveSyncContext, PublicLinkContext, PublicLinkEvent, ShownFact } from "./publicLinkContext.ts";

/** Delays in ms after the 1st … 5th failure. The 6th failure ends the series. */
const retryWaitsMs: readonly number[] = [5000, 30_000, 120_000, 600_000, 1_800_000];
/** Largest jitter as a share of the delay. Jitter is only added. */
const maxJitter = 0.2;

type EventOf<Type extends PublicLinkEvent["type"]> = Extract<PublicLinkEvent, { readonly type: Type }>;
type Publish = EventOf<"link.makeLive" | "link.makeSnapshot">;

/** Returns the state after a request that carries frozen content: like a successful synchronization, the page is current. */
export function toFreshSync(content: FrozenContent, round: number, nowMs: number): LiveSyncContext {
  return { sourceRevision: content.revision, round, startedAtMs: nowMs, stale: false, attempts: 0, lastSyncedAtMs: nowMs };
}

/** Counts a change of the link that is not a synchronization. */
export function toCounted({ metaRevision = 0 }: Pick<PublicLinkContext, "metaRevision">): Pick<PublicLinkContext, "metaRevision"> {
  return { metaRevision: metaRevision + 1 };
}

/** Returns the context changes for entering Live or Snapshot with the content of the event. */
export function toMode(context: PublicLinkContext, { type, content, settings, nowMs }: Publish): Partial<PublicLinkContext> {
  return {
    ...settings,
    ...toCounted(context),
    content,
    contentAtMs: nowMs,
    updatedAtMs: nowMs,
    snapshotAtMs: type === "link.makeSnapshot" ? nowMs : undefined,
    sync: toFreshSync(content, context.sync.round, nowMs),
  };
}

export function toSynced(context: PublicLinkContext, { content, nowMs }: EventOf<"sync.succeeded">): PublicLinkContext {
  const { round, startedAtMs, stale, sourceRevision } = context.sync;
  const isSame = context.content?.contentHash === content.contentHash;
  return {
    ...context,
    content,
    contentAtMs: isSame ? context.contentAtMs : nowMs,
    updatedAtMs: isSame ? context.updatedAtMs : nowMs,
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
export function toRetryWaitMs({ sync }: PublicLinkContext, { jitter }: EventOf<"sync.failed">): number | undefined {
  const waitMs = retryWaitsMs[sync.attempts];
  return waitMs === undefined ? undefined : Math.round(waitMs * (1 + maxJitter * jitter));
}

export function toFailed(context: PublicLinkContext, event: EventOf<"sync.failed">): PublicLinkContext {
  const { nextRetryAtMs: _nextRetryAtMs, ...sync } = context.sync;
  const waitMs = toRetryWaitMs(context, event);
  const next = waitMs === undefined ? {} : { nextRetryAtMs: event.nowMs + waitMs };
  return { ...context, sync: { ...sync, attempts: sync.attempts + 1, lastError: event.reason, ...next } };
}

/** The timer of the expiry; without a time, the timer is cancelled. */
export function toExpiryTimer(context: PublicLinkContext): TimerParams {
  const { expiresAtMs: atMs } = context;
  return atMs === undefined ? { name: "expiry", atMs: null } : { name: "expiry", atMs, event: { type: "expiry.due" }, keep: true };
}

/** True if the link has no time, or one in the future, after the settings of the event. */
export function isOpenAfter(context: PublicLinkContext, event: PublicLinkEvent): boolean {
  // A command without a payload only asks whether the state accepts it.
  const settings: LinkSettings = ("settings" in event ? event.settings : undefined) ?? {};
  const { expiresAtMs } = { ...context, ...settings };
  return expiresAtMs === undefined || expiresAtMs > event.nowMs;
}

export function toShown(mode: PublicLinkMode, content: FrozenContent | undefined): ShownFact {
  return content === undefined ? null : { mode, revision: content.revision, contentHash: content.contentHash };
}
