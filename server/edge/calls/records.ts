/**
 * This module defines the two records of an `Idempotency-Key`.
 *
 * The reservation is stored in the caller's partition. The answer is stored in the partition of the work, in the same
 * commit as the work. Neither contains the key or the request. The answer of an operation that returns a secret is
 * encrypted.
 */
import type { Partition } from "../../platform/storage/port.ts";
import { type AnyRecordType, defineRecord } from "../../platform/storage/recordType.ts";

export interface IdempotencyReservation {
  /** `<partition>/<hash of principal, operation and key>`. */
  readonly id: string;
  /** Base64 salt for all keys that are derived from the Idempotency-Key. */
  readonly salt: string;
  /** HMAC of the parsed request, keyed by the Idempotency-Key, so a password in the request cannot be guessed from this row. */
  readonly requestMac: string;
  /** Partition that holds the answer row. */
  readonly workPartition: Partition;
  readonly startedAtMs: number;
  readonly expiresAtMs: number;
}

export interface IdempotencyAnswer {
  /** `<partition>/<hash>`. The hash includes the reservation's salt, so a later reservation of the same key has another id. */
  readonly id: string;
  /** The answer as JSON text; encrypted and in base64 if `sealed`. */
  readonly answer: string;
  readonly sealed: boolean;
  readonly expiresAtMs: number;
}

/** The key of each record begins with its partition. */
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
