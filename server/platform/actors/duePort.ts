/**
 * Defines due rows for the code that schedules them and for the workers that perform them.
 *
 * A `DueKind` ties the name of a kind of row to the type of its payload, so that a row and its worker cannot disagree.
 */
import type { ClaimedRow, DueRow, Json, Partition } from "../storage/port.ts";

/** A row that this process holds under a lease, with the payload of its kind. */
export type ClaimedDueRow<Payload> = Omit<ClaimedRow, "payload"> & { readonly payload: Payload };

/**
 * Processes a due row. The worker must be idempotent, because a row may be delivered twice. A thrown error is logged
 * and the row is retried later.
 */
export type DueWorker<Payload = Json> = (row: ClaimedDueRow<Payload>, signal: AbortSignal) => Promise<DueOutcome>;

export type DueOutcome =
  | { readonly kind: "done" }
  /** The worker has acknowledged or replaced the row in its own commit. */
  | { readonly kind: "settled" }
  /** With `uncounted`, the row's number of attempts stays as it is. */
  | { readonly kind: "retry"; readonly atMs: number; readonly uncounted?: boolean };

/** One kind of due row. The payload must be JSON. */
export interface DueKind<Payload> {
  readonly name: string;
  /** A row of this kind. `attempts` counts earlier claims; default 0. */
  row(row: { readonly id: string; readonly dueAtMs: number; readonly payload: Payload; readonly attempts?: number }): DueRow;
  /** The payload of a row of this kind. Throws if the row is of another kind. */
  payloadOf(row: Pick<DueRow, "kind" | "payload">): Payload;
  /** A worker for the pump, which knows rows of any kind only. */
  worker(work: DueWorker<Payload>): DueWorker;
}

export function defineDueKind<Payload>(name: string): DueKind<Payload> {
  return {
    name,
    row: ({ id, dueAtMs, payload, attempts = 0 }) => ({ id, kind: name, dueAtMs, payload: payload as Json, attempts }),
    payloadOf({ kind, payload }) {
      if (kind !== name) throw new Error(`a due row of kind ${kind} is not of kind ${name}`);
      return payload as Payload;
    },
    // The only conversion between stored JSON and the payload: rows of this kind are made by `row` only.
    worker: (work) => (row, signal) => work(row as ClaimedDueRow<Payload>, signal),
  };
}

/** At most `max` tasks that name this lane run at once in this process. */
export interface Lane {
  readonly name: string;
  readonly max: number;
  /**
   * Applies instead of `max` while another lane of the same task is at least half full, so that a few names cannot use
   * up that lane.
   */
  readonly maxInCrowd?: number;
}

export interface DueWorkerOptions {
  /** The lanes of a row. The row waits until each of them has room. */
  readonly lanes?: (row: ClaimedRow) => readonly Lane[];
}

/** Claims due rows in all partitions and gives each row to the worker of its kind. */
export interface DuePump {
  register(kind: string, worker: DueWorker, options?: DueWorkerOptions): void;
  /** Runs a row at once that a commit of this node has just written under its own lease. */
  adopt(row: ClaimedRow): void;
  /** Makes the pump claim at `dueAtMs` instead of waiting for the next poll, because a new row falls due then. */
  wake(partition: Partition, dueAtMs: number): void;
  start(): void;
  /**
   * Stops claiming and waits for the running rows until the signal aborts. Then the remaining rows are returned to the
   * store.
   */
  drain(signal: AbortSignal): Promise<void>;
}
