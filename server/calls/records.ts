/**
 * Rows behind an `Idempotency-Key`: a reservation where the caller lives, and the answer where the work was done,
 * written by the work's own commit. Neither holds the key, the request or, for operations that show a secret, the answer in clear.
 */
import type { Partition } from "../storage/port.ts";
import { type AnyRecordType, defineRecord } from "../storage/recordType.ts";

export interface IdempotencyReservation {
  /** `<partition>/<hash of principal, operation and key>`. */
  readonly id: string;
  /** Salt of everything derived from the key. */
  readonly salt: string;
  /** Of the parsed request, keyed by the Idempotency-Key: the row alone tells nothing of a password in it. */
  readonly requestMac: string;
  /** Where the answer is to be looked for. */
  readonly workPartition: Partition;
  readonly startedAtMs: number;
  readonly expiresAtMs: number;
}

export interface IdempotencyAnswer {
  /** `<partition>/<hash>`: of one reservation, so that a later one with the same key never meets it. */
  readonly id: string;
  /** The answer as JSON; or sealed. */
  readonly answer: string;
  readonly sealed: boolean;
  readonly expiresAtMs: number;
}

/** Keys of both rows begin with their partition. */
const partitionOf = (key: string): Partition => Number(key.slice(0, key.indexOf("/")));

export const idempotencyReservation = defineRecord<IdempotencyReservation>({
  name: "idempotencyReservation",
  version: 1,
  partitionOf,
  keyOf: (value) => value.id,
  expiresAtMs: (value) => value.expiresAtMs,
});

export const idempotencyAnswer = defineRecord<IdempotencyAnswer>({
  name: "idempotencyAnswer",
  version: 1,
  partitionOf,
  keyOf: (value) => value.id,
  expiresAtMs: (value) => value.expiresAtMs,
});

export const callRecordTypes: readonly AnyRecordType[] = [idempotencyReservation, idempotencyAnswer];
