/**
 * Performs the due rows of actors: runs effects, stores their results, and fires timers.
 *
 * The result of an effect is committed together with the acknowledgement of its row under the fence of the run, so a
 * run that lost its lease changes nothing. An effect that throws is retried after a wait; after the last wait its actor
 * gets `<effect>.exhausted`.
 */
import type { Logger } from "pino";
import { AppError } from "../../../api/schema/error.ts";
import { type Partition, type Storage, StorageFullError, StorageUnavailableError } from "../storage/port.ts";
import type { conflict } from "../storage/retryOnConflict.ts";
import { type After, pause, after as realAfter } from "./after.ts";
import {
  type ActorRowPayload,
  type AnyActorKind,
  decideEvent,
  type EffectRowPayload,
  effectRows,
  type TimerRowPayload,
  timerRows,
} from "./decide.ts";
import type { ClaimedDueRow, DueOutcome, DuePump } from "./duePort.ts";
import { type ActorEvent, type ActorRecord, CommitConflict, type EffectOutcome, type ProvidedKind } from "./port.ts";
import { type ActorUnit, commitOnce } from "./unit.ts";

/** Waits after the 1st, 2nd … failed attempt, for kinds that set no `backoffMs`. */
const defaultBackoffMs: readonly number[] = [1000, 5000, 30_000, 120_000, 600_000];
const defaultMaxInFlight = 64;
/**
 * While the store refuses writes, the result of an effect is stored again and again, because the work itself is done.
 */
const resultRetryMs = { first: 250, most: 5000 };

export interface ActorObserver {
  /** Reports the end of one attempt of an effect. */
  attempt(kind: string, effect: string, outcome: "done" | "retry" | "failed" | "exhausted" | "lost"): void;
}

export interface ActorRowsOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly pump: Pick<DuePump, "register">;
  readonly log: Logger;
  /** The registered kinds by name. */
  readonly kinds: ReadonlyMap<string, ProvidedKind>;
  /** Runs the attempts for one actor after earlier ones of this process have ended, and repeats them on conflict. */
  readonly inTurn: <Value>(kind: AnyActorKind, id: string, attempt: () => Promise<Value | typeof conflict>) => Promise<Value>;
  readonly openUnit: (partition: Partition) => ActorUnit;
  readonly after: After | undefined;
  readonly observe: ActorObserver | undefined;
}

type EffectRow = ClaimedDueRow<EffectRowPayload>;
// biome-ignore lint/suspicious/noExplicitAny: the outcome of an effect of any kind
type AnyOutcome = EffectOutcome<any, ActorEvent>;
type SettlingOutcome = Exclude<AnyOutcome, { readonly kind: "retry" }>;

/**
 * True if the row was claimed again or deleted. The result of this run must then be discarded, because another run owns
 * the row.
 */
function isLostRow(reason: unknown, row: { readonly id: string }): boolean {
  return reason instanceof CommitConflict && reason.conflict.kind === "due" && reason.conflict.id === row.id;
}

/**
 * True for errors after which storing the result is retried, because the work itself is done and the store may recover.
 */
function isTemporary(err: unknown): boolean {
  if (err instanceof StorageFullError || err instanceof StorageUnavailableError) return true;
  return err instanceof AppError && err.code === "unavailable";
}

/** Registers the workers for the due rows of actors. */
export function registerActorRows(options: ActorRowsOptions): void {
  const { storage, pump, log, kinds, inTurn, openUnit, after = realAfter, observe } = options;

  function kindOf({ actor }: ActorRowPayload): ProvidedKind {
    const provided = kinds.get(actor);
    if (provided === undefined) throw new Error(`a due row belongs to an actor of the unknown kind ${actor}`);
    return provided;
  }

  const commit = (unit: ActorUnit) => commitOnce(unit, (batch) => storage.commit(batch));

  async function settleOnce(kind: AnyActorKind, row: EffectRow, outcome: SettlingOutcome): Promise<boolean | typeof conflict> {
    const { id } = row.payload;
    const unit = openUnit(row.partition);
    const previous = await unit.read(kind, id);
    if (previous?.value.pending[0]?.id !== row.id) return false;
    const { event, gather } = outcome.kind === "decide" ? await outcome.decide(unit, previous) : { event: undefined, ...outcome };
    const next = await unit.settle(kind, id, row, event);
    if (next === undefined) {
      log.info({ actor: id, row: row.id }, "effect result ignored: its actor no longer waits for it");
      return settleOnce(kind, row, { kind: "done" });
    }
    await gather?.(unit, next, previous);
    return (await commit(unit)) ?? true;
  }

  /**
   * Commits the result of an effect, or its removal without an event. Returns false if this node no longer holds the
   * row.
   */
  async function settle(kind: AnyActorKind, row: EffectRow, outcome: SettlingOutcome): Promise<boolean> {
    try {
      return await inTurn(kind, row.payload.id, () => settleOnce(kind, row, outcome));
    } catch (reason) {
      if (isLostRow(reason, row)) return false;
      throw reason;
    }
  }

  async function settleThroughOutage(kind: AnyActorKind, row: EffectRow, outcome: SettlingOutcome, signal: AbortSignal) {
    for (let waitMs = resultRetryMs.first; ; waitMs = Math.min(waitMs * 2, resultRetryMs.most)) {
      try {
        return await settle(kind, row, outcome);
      } catch (err) {
        if (!isTemporary(err) || signal.aborted) throw err;
        log.warn({ err, row: row.id }, "effect result not stored yet");
        await pause(waitMs, signal, after);
      }
    }
  }

  /** Returns `undefined` if the actor does not accept the event; the effect then stays pending. */
  async function exhaust(kind: AnyActorKind, row: EffectRow, effect: string, reason: string, attempts: number, signal: AbortSignal) {
    const event = { type: `${effect}.exhausted`, reason, attempts };
    const previous = await storage.records.get<ActorRecord<unknown>>(kind.record, row.payload.id);
    if (previous?.value.pending[0]?.id !== row.id) return false;
    // The lease does not matter here: the decision is made again in a unit.
    if (decideEvent(kind, previous.value, event, row, { nowMs: storage.now(), leaseMs: 0 }) === undefined) return undefined;
    return settleThroughOutage(kind, row, { kind: "event", event }, signal);
  }

  async function failed(kind: AnyActorKind, row: EffectRow, effect: string, err: unknown, signal: AbortSignal): Promise<DueOutcome> {
    const attempt = row.attempts + 1;
    const backoffMs = kind.backoffMs ?? defaultBackoffMs;
    log.warn({ err, kind: kind.name, row: row.id, attempt }, "effect attempt failed");
    const waitMs = backoffMs[attempt - 1];
    if (waitMs !== undefined) {
      observe?.attempt(kind.name, effect, "failed");
      return { kind: "retry", atMs: storage.now() + waitMs };
    }
    observe?.attempt(kind.name, effect, "exhausted");
    const reason = err instanceof Error ? err.message : String(err);
    if ((await exhaust(kind, row, effect, reason, attempt, signal)) !== undefined) return { kind: "settled" };
    log.error(
      { kind: kind.name, row: row.id, attempt },
      "effect is out of attempts, but its machine does not accept that end: it is retried",
    );
    return { kind: "retry", atMs: storage.now() + (backoffMs.at(-1) ?? 60_000) };
  }

  async function runEffect(row: EffectRow, signal: AbortSignal): Promise<DueOutcome> {
    const { id } = row.payload;
    const { kind, effects } = kindOf(row.payload);
    const stored = await storage.records.get<ActorRecord<unknown>>(kind.record, id);
    const head = stored?.value.pending[0];
    if (stored === undefined || head?.id !== row.id) return { kind: "done" };
    let outcome: AnyOutcome;
    try {
      const run = effects[head.effect];
      if (run === undefined) throw new Error(`${kind.name} has no effect ${head.effect}`);
      const { context } = stored.value;
      const attempt = row.attempts + 1;
      const guard = { kind: "due", id: row.id, fence: row.fence } as const;
      outcome = await run({ id: row.id, actorId: id, params: head.params, attempt, context, signal, guard });
    } catch (err) {
      // The run was aborted, so the attempt does not count as failed.
      if (signal.aborted) return { kind: "settled" };
      if (isLostRow(err, row)) {
        observe?.attempt(kind.name, head.effect, "lost");
        return { kind: "settled" };
      }
      return failed(kind, row, head.effect, err, signal);
    }
    if (outcome.kind === "retry") {
      if (signal.aborted) return { kind: "settled" };
      observe?.attempt(kind.name, head.effect, "retry");
      log.info({ kind: kind.name, row: row.id, reason: outcome.reason }, "effect will be retried");
      return { kind: "retry", atMs: outcome.atMs, uncounted: outcome.uncounted === true };
    }
    let settled: boolean;
    try {
      settled = await settleThroughOutage(kind, row, outcome, signal);
    } catch (err) {
      // A result that cannot be committed counts as a failed attempt, so the number of attempts stays limited.
      return signal.aborted ? { kind: "settled" } : failed(kind, row, head.effect, err, signal);
    }
    observe?.attempt(kind.name, head.effect, settled ? "done" : "lost");
    return { kind: "settled" };
  }

  async function fireTimer(row: ClaimedDueRow<TimerRowPayload>): Promise<DueOutcome> {
    const { id, name, event } = row.payload;
    const { kind, timed } = kindOf(row.payload);
    try {
      return await inTurn<DueOutcome>(kind, id, async () => {
        const unit = openUnit(row.partition);
        const previous = await unit.read(kind, id);
        // The actor has taken another event or was deleted, so the timer is obsolete.
        if (previous?.value.timers[name]?.row !== row.id) return { kind: "done" };
        const next = await unit.settle(kind, id, row, event);
        if (next === undefined) await unit.settle(kind, id, row);
        else await Promise.resolve(timed?.(unit, next, previous));
        return (await commit(unit)) ?? { kind: "settled" };
      });
    } catch (reason) {
      if (isLostRow(reason, row)) return { kind: "settled" };
      throw reason;
    }
  }

  pump.register(effectRows.name, effectRows.worker(runEffect), {
    lanes(row) {
      const { actor, lane } = effectRows.payloadOf(row);
      const own = { name: `kind ${actor}`, max: kinds.get(actor)?.kind.maxInFlight ?? defaultMaxInFlight };
      return lane === undefined ? [own] : [own, { ...lane, name: `lane ${lane.name}` }];
    },
  });
  pump.register(timerRows.name, timerRows.worker(fireTimer));
}
