/**
 * ActorRuntime decides an event (`decide.ts`), persists the result in one commit, then runs the effects.
 *
 * One queue for each actor prevents conflicts within this node. A write of another node causes a conflict, and the
 * event is then decided again on the current record. The result of an effect is committed together with the
 * acknowledgement of its row under the fence of the run, so a run that lost its lease changes nothing.
 */
import type { Logger } from "pino";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { type Batch, type ClaimedRow, type Storage, StorageFullError, StorageUnavailableError, type Stored } from "../storage/port.ts";
import { type After, pause, after as realAfter } from "./after.ts";
import {
  type ActorRowPayload,
  type AnyActorKind,
  type Decided,
  decideBirth,
  decideEvent,
  decideSettled,
  type EffectRowPayload,
  effectRowKind,
  type TimerRowPayload,
  timerRowKind,
  toAllowed,
  toCancelled,
  toInvalidTransition,
} from "./decide.ts";
import { createKeyedQueue } from "./keyedQueue.ts";
import {
  type ActorChange,
  type ActorEvent,
  type ActorKind,
  type ActorRecord,
  type ActorRuntime,
  type Alongside,
  CommitConflict,
  type DueOutcome,
  type DuePump,
  type EffectOutcome,
  type SendOptions,
} from "./port.ts";

/** Waits after the 1st, 2nd … failed attempt, for kinds that set no `backoffMs`. */
const defaultBackoffMs: readonly number[] = [1000, 5000, 30_000, 120_000, 600_000];
const defaultMaxInFlight = 64;
/** After this many record conflicts in a row the event is refused, because another writer never stops. */
const maxDecisions = 50;
/**
 * While the store refuses writes, the result of an effect is stored again and again, because the work itself is done.
 */
const resultRetryMs = { first: 250, most: 5000 };

export interface ActorObserver {
  /** Reports the end of one attempt of an effect. */
  attempt(kind: string, effect: string, outcome: "done" | "retry" | "failed" | "exhausted" | "lost"): void;
}

export interface ActorRuntimeOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly pump: DuePump;
  readonly log: Logger;
  readonly leaseMs: number;
  readonly after?: After;
  readonly observe?: ActorObserver;
}

type AnyRecord = ActorRecord<unknown>;
/** The parts of a decision that are needed after the commit. */
interface Acting extends Pick<Decided<never>, "timerTimesMs"> {
  readonly next: { readonly id: string };
  readonly born?: ClaimedRow | undefined;
}
// biome-ignore lint/suspicious/noExplicitAny: what an effect of any kind resolves with
type AnyOutcome = EffectOutcome<any, ActorEvent>;
type SettlingOutcome = Exclude<AnyOutcome, { readonly kind: "retry" }>;

/**
 * True if the row was claimed again or deleted. The result of this run must then be discarded, because another run owns
 * the row.
 */
function isLostRow(reason: unknown, row: ClaimedRow): boolean {
  return reason instanceof CommitConflict && reason.conflict.kind === "due" && reason.conflict.id === row.id;
}

/**
 * True for errors after which storing the result is retried, because the work itself is done and the store may recover.
 */
function isPassing(err: unknown): boolean {
  if (err instanceof StorageFullError || err instanceof StorageUnavailableError) return true;
  return err instanceof AppError && err.code === "unavailable";
}

/** The writes of a decision, including those of its facts. */
function toBatch<Context>({ record, due, facts }: Decided<Context>): Required<Omit<Batch, "partition">> {
  return {
    records: [record, ...facts.flatMap(({ records = [] }) => records)],
    due: [...due, ...facts.flatMap((fact) => fact.due ?? [])],
    logs: facts.flatMap(({ logs = [] }) => logs),
    require: facts.flatMap((fact) => fact.require ?? []),
  };
}

export function createActorRuntime({ storage, pump, log, leaseMs, after = realAfter, observe }: ActorRuntimeOptions): ActorRuntime {
  const kinds = new Map<string, AnyActorKind>();
  const queue = createKeyedQueue();

  const turn = () => ({ nowMs: storage.now(), leaseMs });
  const queueKey = (kind: AnyActorKind, id: string) => `${kind.name}/${id}`;

  function known(kind: AnyActorKind): void {
    if (kinds.get(kind.name) !== kind) throw new Error(`the actor kind ${kind.name} is not registered`);
  }

  function kindOf(payload: ActorRowPayload): AnyActorKind {
    const kind = kinds.get(payload.actor);
    if (kind === undefined) throw new Error(`a due row belongs to an actor of the unknown kind ${payload.actor}`);
    return kind;
  }

  function act(kind: AnyActorKind, decided: Acting): void {
    for (const atMs of decided.timerTimesMs) pump.wake(kind.record.partitionOf(decided.next.id), atMs);
    if (decided.born !== undefined) pump.adopt(decided.born);
    kind.committed?.(decided.next as AnyRecord);
  }

  /** Commits a decision. Returns `undefined` after a record conflict, because the decision may be made again. */
  async function persist<Context>(
    kind: AnyActorKind,
    previous: Stored<ActorRecord<Context>> | null,
    decided: Decided<Context>,
    options: Pick<SendOptions<Context>, "commit"> & { readonly alongside?: Alongside | SendOptions<Context>["alongside"] },
  ): Promise<Stored<ActorRecord<Context>> | undefined> {
    const { alongside } = options;
    const more = typeof alongside === "function" ? await alongside(decided.next, previous) : alongside;
    const own = toBatch(decided);
    const batch: Batch = {
      partition: kind.record.partitionOf(decided.next.id),
      records: [...own.records, ...(more?.records ?? [])],
      due: [...own.due, ...(more?.due ?? [])],
      logs: [...own.logs, ...(more?.logs ?? [])],
      require: [...own.require, ...(more?.require ?? [])],
    };
    const revision = (previous?.revision ?? 0) + 1;
    const result = await (options.commit === undefined ? storage.commit(batch) : options.commit(batch, decided.next, revision));
    if (result.ok) {
      act(kind, decided);
      more?.started?.();
      return { value: decided.next, revision };
    }
    if (result.conflict.kind === "record") return undefined;
    throw new CommitConflict(result.conflict);
  }

  async function untilDecided<Result>(what: string, attempt: () => Promise<Result | undefined>): Promise<Result> {
    for (let decisions = 0; decisions < maxDecisions; decisions += 1) {
      const result = await attempt();
      if (result !== undefined) return result;
    }
    log.error({ what }, "event given up: the actor changed before every attempt to store it");
    throw new AppError("unavailable", "The resource is changing too often right now; try again.", { retryAfter: 1 });
  }

  /**
   * Commits the result of an effect, or its removal without an event. Returns false if this node no longer holds the
   * row.
   */
  function settle(kind: AnyActorKind, row: ClaimedRow, outcome: SettlingOutcome): Promise<boolean> {
    const { id } = row.payload as unknown as EffectRowPayload;
    return queue
      .run(queueKey(kind, id), () =>
        untilDecided(row.id, async () => {
          const previous = await storage.records.get<AnyRecord>(kind.record, id);
          if (previous?.value.pending[0]?.id !== row.id) return false;
          const result = outcome.kind === "decide" ? await outcome.decide(previous) : outcome;
          const event = "event" in result ? result.event : undefined;
          const taken = event === undefined ? undefined : decideEvent(kind, previous, event, row, turn());
          const decided = taken ?? decideSettled(kind, previous, row, turn());
          const dropped = event !== undefined && taken === undefined;
          if (dropped) log.info({ actor: id, row: row.id }, "effect result ignored: its actor no longer waits for it");
          const options = dropped || result.alongside === undefined ? {} : { alongside: result.alongside };
          return (await persist(kind, previous, decided, options)) === undefined ? undefined : true;
        }),
      )
      .catch((reason: unknown) => {
        if (isLostRow(reason, row)) return false;
        throw reason;
      });
  }

  async function settleThroughOutage(kind: AnyActorKind, row: ClaimedRow, outcome: SettlingOutcome, signal: AbortSignal) {
    for (let waitMs = resultRetryMs.first; ; waitMs = Math.min(waitMs * 2, resultRetryMs.most)) {
      try {
        return await settle(kind, row, outcome);
      } catch (err) {
        if (!isPassing(err) || signal.aborted) throw err;
        log.warn({ err, row: row.id }, "effect result not stored yet");
        await pause(waitMs, signal, after);
      }
    }
  }

  /** Returns `undefined` if the actor does not accept the event; the effect then stays pending. */
  async function exhaust(kind: AnyActorKind, row: ClaimedRow, effect: string, reason: string, attempts: number, signal: AbortSignal) {
    const { id } = row.payload as unknown as EffectRowPayload;
    const event = { type: `${effect}.exhausted`, reason, attempts } as never;
    const previous = await storage.records.get<AnyRecord>(kind.record, id);
    if (previous?.value.pending[0]?.id !== row.id) return false;
    if (decideEvent(kind, previous, event, row, turn()) === undefined) return undefined;
    return settleThroughOutage(kind, row, { kind: "event", event }, signal);
  }

  async function failed(kind: AnyActorKind, row: ClaimedRow, effect: string, err: unknown, signal: AbortSignal): Promise<DueOutcome> {
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

  async function runEffect(row: ClaimedRow, signal: AbortSignal): Promise<DueOutcome> {
    const payload = row.payload as unknown as EffectRowPayload;
    const kind = kindOf(payload);
    const stored = await storage.records.get<AnyRecord>(kind.record, payload.id);
    const head = stored?.value.pending[0];
    if (stored === undefined || head?.id !== row.id) return { kind: "done" };
    let outcome: AnyOutcome;
    try {
      const run = kind.effects[head.effect];
      if (run === undefined) throw new Error(`${kind.name} has no effect ${head.effect}`);
      const { context } = stored.value;
      const attempt = row.attempts + 1;
      const guard = { kind: "due", id: row.id, fence: row.fence } as const;
      outcome = (await run({ id: row.id, actorId: payload.id, params: head.params, attempt, context, signal, guard })) as AnyOutcome;
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
      return { kind: "retry", atMs: outcome.atMs };
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

  function fireTimer(row: ClaimedRow): Promise<DueOutcome> {
    const payload = row.payload as unknown as TimerRowPayload;
    const kind = kindOf(payload);
    return queue
      .run(queueKey(kind, payload.id), () =>
        untilDecided<DueOutcome>(row.id, async () => {
          const previous = await storage.records.get<AnyRecord>(kind.record, payload.id);
          // The actor has taken another event or was deleted, so the timer is obsolete.
          if (previous?.value.timers[payload.name]?.row !== row.id) return { kind: "done" };
          const decided = decideEvent(kind, previous, payload.event, row, turn()) ?? decideSettled(kind, previous, row, turn());
          return (await persist(kind, previous, decided, {})) === undefined ? undefined : { kind: "settled" };
        }),
      )
      .catch((reason: unknown) => {
        if (isLostRow(reason, row)) return { kind: "settled" };
        throw reason;
      });
  }

  pump.register(effectRowKind, runEffect, {
    lanes(row) {
      const { actor, lane } = row.payload as unknown as EffectRowPayload;
      const own = { name: `kind ${actor}`, max: kinds.get(actor)?.maxInFlight ?? defaultMaxInFlight };
      return lane === undefined ? [own] : [own, { ...lane, name: `lane ${lane.name}` }];
    },
  });
  pump.register(timerRowKind, fireTimer);

  function toChange<Context>(kind: AnyActorKind, decided: Decided<Context>): ActorChange<Context> {
    return { next: decided.next, batch: toBatch(decided), started: () => act(kind, decided) };
  }

  return {
    register(more) {
      for (const kind of more) {
        if (kinds.has(kind.name)) throw new Error(`two actor kinds are named ${kind.name}`);
        kinds.set(kind.name, kind);
      }
    },
    create<Context, Event extends never>(kind: ActorKind<Context, Event>, id: string, input: object, options: SendOptions<Context> = {}) {
      known(kind);
      return queue.run(queueKey(kind, id), () =>
        untilDecided(id, async () => {
          const made = await persist(kind, null, decideBirth<Context>(kind, id, input, turn()), options);
          if (made !== undefined) return made;
          if ((await storage.records.get(kind.record, id)) === undefined) return undefined;
          throw new AppError("already_exists", `There is already a ${kind.name} with the id ${id}.`);
        }),
      );
    },
    send(kind, id, event, options = {}) {
      known(kind);
      return queue.run(queueKey(kind, id), () =>
        untilDecided(id, async () => {
          const previous = await storage.records.get(kind.record, id);
          if (previous === undefined) throw notFound();
          if (options.atRevision !== undefined && options.atRevision !== previous.revision) {
            throw new AppError("precondition_failed", "The resource was changed meanwhile. Read it again and retry.");
          }
          const decided = decideEvent(kind, previous, event, undefined, turn());
          if (decided === undefined) throw toInvalidTransition(kind, previous.value, event.type, storage.now());
          return persist(kind, previous, decided, options);
        }),
      );
    },
    remove(kind, id, replacing, alongside) {
      known(kind);
      return queue.run(queueKey(kind, id), async () => {
        const batch: Batch = {
          partition: kind.record.partitionOf(id),
          records: [{ op: "delete", type: kind.record, replacing }, ...(alongside?.records ?? [])],
          due: [...toCancelled(replacing.value), ...(alongside?.due ?? [])],
          ...(alongside?.logs === undefined ? {} : { logs: alongside.logs }),
          ...(alongside?.require === undefined ? {} : { require: alongside.require }),
        };
        const result = await storage.commit(batch);
        if (result.ok) {
          alongside?.started?.();
          return true;
        }
        if (result.conflict.kind === "record") return false;
        throw new CommitConflict(result.conflict);
      });
    },
    birth(kind, id, input) {
      known(kind);
      return toChange(kind, decideBirth(kind, id, input, turn()));
    },
    move(kind, previous, event) {
      known(kind);
      const decided = decideEvent(kind, previous, event, undefined, turn());
      if (decided === undefined) throw toInvalidTransition(kind, previous.value, event.type, storage.now());
      return toChange(kind, decided);
    },
    allowed: (kind, record) => toAllowed(kind, record, storage.now()),
  };
}
