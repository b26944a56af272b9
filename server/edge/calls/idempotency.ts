/**
 * `createIdempotency` makes requests with the same `Idempotency-Key` take effect once, also after a crash.
 *
 * An attempt acquires a lease and writes a reservation row before it works. All ids are derived from the key, so a
 * second attempt makes the same ids and finds the records of the first. The answer row is written in the same commit as
 * the work, so both exist or neither does. A repeat is refused if the request differs (422), is answered with the stored
 * answer, or is refused while the lease is held (409). Otherwise it runs the work again.
 * This module does not know the operations: an answer is only text here.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { AlreadyAnswered } from "../../domain/call/call.ts";
import { createSeededIds, type IdSource } from "../../platform/storage/ids.ts";
import type { Batch, CommitResult, Lease, Partition, Storage, Stored } from "../../platform/storage/port.ts";
import { type IdempotencyReservation, idempotencyAnswer, idempotencyReservation } from "./records.ts";

export interface IdempotencyDemand {
  /** Account id of a session, or id of an API key. */
  readonly principalId: string;
  /** Partition of the caller's account. The reservation row is stored there. */
  readonly partition: Partition;
  /** Partition in which the work will probably be committed. If another is used, the reservation is updated first. */
  readonly workPartition: Partition;
  readonly operation: string;
  readonly key: string;
  /** Canonical text of the parsed request. */
  readonly request: string;
  /** True if the answer contains a secret. It is then stored encrypted, for `keep.idempotencySecret`. */
  readonly secret: boolean;
}

export type IdempotencyStart = { readonly kind: "replay"; readonly answer: string } | { readonly kind: "run"; readonly run: IdempotentRun };

/** Attempt that holds the lease of its idempotency key. */
export interface IdempotentRun {
  readonly nowMs: number;
  readonly ids: IdSource;
  /** Commits the batch and the answer row together. Throws `AlreadyAnswered` if another attempt has already answered. */
  commit(batch: Batch, answer: string): Promise<CommitResult>;
  /**
   * Stores the answer of work that did not commit it. Does nothing if `commit` has already stored an answer.
   * Throws `AlreadyAnswered` if another attempt has already answered.
   */
  keep(answer: string): Promise<void>;
  /** Releases the lease. The reservation row is kept. */
  release(): Promise<void>;
}

export interface Idempotency {
  start(demand: IdempotencyDemand): Promise<IdempotencyStart>;
}

export interface IdempotencyOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "leases" | "now">;
  readonly limits: Limits;
  /** Id of this node, which owns the leases. */
  readonly owner: string;
  readonly leaseMs: number;
}

export function createIdempotency({ storage, limits, owner, leaseMs }: IdempotencyOptions): Idempotency {
  async function reserve(demand: IdempotencyDemand, id: string, expired: Stored<IdempotencyReservation> | null) {
    const startedAtMs = storage.now();
    const salt = randomBytes(16);
    const value: IdempotencyReservation = {
      id,
      salt: salt.toString("base64"),
      requestMac: deriveKeys(demand.key, salt).macOf(demand.request).toString("base64"),
      workPartition: demand.workPartition,
      startedAtMs,
      expiresAtMs: startedAtMs + (demand.secret ? limits["keep.idempotencySecret"] : limits["keep.idempotency"]),
    };
    const batch = {
      partition: demand.partition,
      records: [{ op: "put" as const, type: idempotencyReservation, value, replacing: expired }],
    };
    const result = await storage.commit(batch);
    return result.ok ? { value, revision: result.revisions[0] ?? 1 } : undefined;
  }

  async function readAnswer(reservation: IdempotencyReservation, keys: DerivedKeys): Promise<string | undefined> {
    const row = await storage.records.get(idempotencyAnswer, answerId(reservation, reservation.workPartition));
    return row === undefined ? undefined : row.value.sealed ? keys.open(row.value.answer) : row.value.answer;
  }

  return {
    async start(demand) {
      const name = hash("sha256", `${demand.principalId}\n${demand.operation}\n${demand.key}`);
      const id = `${demand.partition}/${name}`;
      let found = await storage.records.get(idempotencyReservation, id);
      if (found !== undefined && found.value.expiresAtMs > storage.now()) {
        const replay = await replayOf(demand, found.value, readAnswer);
        if (replay !== undefined) return replay;
      }
      const lease = await storage.leases.acquire(demand.partition, `idempotency/${name}`, owner, leaseMs);
      if (lease === undefined) throw inProgress(leaseMs);
      let replay: IdempotencyStart | undefined;
      try {
        // Read again under the lease, because another attempt may have run between the first read and the lease.
        found = await storage.records.get(idempotencyReservation, id);
        if (found === undefined || found.value.expiresAtMs <= storage.now()) {
          const made = await reserve(demand, id, found ?? null);
          if (made === undefined) throw inProgress(leaseMs);
          found = made;
        } else {
          replay = await replayOf(demand, found.value, readAnswer);
        }
      } catch (error) {
        await storage.leases.release(lease);
        throw error;
      }
      // The run may last long, so it does not hold the request.
      const { partition, key, secret } = demand;
      if (replay === undefined) return { kind: "run", run: toRun({ partition, key, secret }, found, lease) };
      await storage.leases.release(lease);
      return replay;
    },
  };

  function toRun(
    demand: Pick<IdempotencyDemand, "partition" | "key" | "secret">,
    reserved: Stored<IdempotencyReservation>,
    lease: Lease,
  ): IdempotentRun {
    const keys = deriveKeys(demand.key, Buffer.from(reserved.value.salt, "base64"));
    let reservation = reserved;
    let answered = false;
    const renewal = setInterval(() => {
      // A failed renewal is ignored: if the lease is lost, only one of two attempts can commit the answer row.
      storage.leases.renew(lease, leaseMs).catch(() => undefined);
    }, leaseMs / 3).unref();

    async function movedTo(partition: Partition): Promise<void> {
      if (reservation.value.workPartition === partition) return;
      const value = { ...reservation.value, workPartition: partition };
      const write = { op: "put" as const, type: idempotencyReservation, value, replacing: reservation };
      const result = await storage.commit({ partition: demand.partition, records: [write] });
      if (!result.ok) throw inProgress(leaseMs);
      reservation = { value, revision: result.revisions[0] ?? 0 };
    }

    async function commit(batch: Batch, answer: string): Promise<CommitResult> {
      if (answered) throw new Error("a call answered twice");
      await movedTo(batch.partition);
      const id = answerId(reservation.value, batch.partition);
      const value = {
        id,
        answer: demand.secret ? keys.seal(answer) : answer,
        sealed: demand.secret,
        expiresAtMs: reservation.value.expiresAtMs,
      };
      const records = [...(batch.records ?? []), { op: "put" as const, type: idempotencyAnswer, value, replacing: null }];
      const result = await storage.commit({ ...batch, records });
      if (result.ok) {
        answered = true;
        return { ...result, revisions: result.revisions.slice(0, -1) };
      }
      // Check for an answer after every conflict: if one exists, another attempt has already done this work.
      const other = await readAnswer(reservation.value, keys);
      if (other !== undefined) throw new AlreadyAnswered(other);
      return result;
    }

    return {
      nowMs: reserved.value.startedAtMs,
      ids: createSeededIds(keys.seed, reserved.value.startedAtMs),
      commit,
      async keep(answer) {
        if (answered) return;
        const result = await commit({ partition: reservation.value.workPartition }, answer);
        if (!result.ok) throw new Error(`an idempotent answer could not be kept: ${JSON.stringify(result.conflict)}`);
      },
      async release() {
        clearInterval(renewal);
        await storage.leases.release(lease);
      },
    };
  }
}

async function replayOf(
  demand: IdempotencyDemand,
  reservation: IdempotencyReservation,
  readAnswer: (reservation: IdempotencyReservation, keys: DerivedKeys) => Promise<string | undefined>,
): Promise<IdempotencyStart | undefined> {
  const keys = deriveKeys(demand.key, Buffer.from(reservation.salt, "base64"));
  if (!timingSafeEqual(keys.macOf(demand.request), Buffer.from(reservation.requestMac, "base64"))) {
    throw new AppError("idempotency_key_reused", "This Idempotency-Key was used with another request. Use a new key for a new request.");
  }
  const answer = await readAnswer(reservation, keys);
  return answer === undefined ? undefined : { kind: "replay", answer };
}

function inProgress(leaseMs: number): AppError {
  const detail = "A request with this Idempotency-Key is still running. Repeat it later to get its answer.";
  return new AppError("idempotency_in_progress", detail, { retryAfter: Math.max(1, Math.ceil(leaseMs / 1000)) });
}

/** The id includes the salt of the reservation, so an answer of an earlier, expired reservation has a different id. */
function answerId(reservation: IdempotencyReservation, partition: Partition): string {
  return `${partition}/${hash("sha256", `${reservation.id}\n${reservation.salt}`)}`;
}

interface DerivedKeys {
  readonly seed: Uint8Array;
  macOf(request: string): Buffer;
  seal(text: string): string;
  open(sealed: string): string;
}

/** Derives all keys from the Idempotency-Key, which is not stored. Stored rows therefore cannot be decrypted without it. */
function deriveKeys(idempotencyKey: string, salt: Uint8Array): DerivedKeys {
  const derived = Buffer.from(hkdfSync("sha256", idempotencyKey, salt, "svc/idempotency", 96));
  const [macKey, seed, sealKey] = [derived.subarray(0, 32), derived.subarray(32, 64), derived.subarray(64)];
  return {
    seed,
    macOf: (request) => createHmac("sha256", macKey).update(request).digest(),
    seal(text) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", sealKey, nonce);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, "base64");
      const decipher = createDecipheriv("aes-256-gcm", sealKey, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28));
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
    },
  };
}
