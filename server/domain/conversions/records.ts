/**
 * Defines the stored record of conversions: actors of `machines/conversion.ts`, with their input or output as blobs.
 *
 * A conversion is in the partition of its workspace, because a target article changes in the same commit. Without a
 * workspace it is in the partition of its account. This module reads and writes nothing.
 */
import type { Conversion, ConversionStatus } from "../../../api/schema/conversion.ts";
import type { ConversionContext } from "../../../machines/conversion.ts";
import type { ActorRecord } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";
import { present } from "../call/present.ts";

/** The actor's id is the conversion id, and its state is the conversion's status. */
export type ConversionRecord = ActorRecord<ConversionContext>;

/** Conversions of an account; the list ends in (createdAt, conversion id). */
export function conversionsOf(accountId: string): IndexKey {
  return ["conversion.account", accountId];
}

/** A conversion counts in its workspace, and may reuse outputs there. Without a workspace, both apply to its account. */
export function scopeOf({ workspaceId, accountId }: Pick<ConversionContext, "workspaceId" | "accountId">): string {
  return workspaceId ?? accountId;
}

/** The counters of a scope: its conversions, their stored bytes, and those of one account that have not ended. */
export const counters = {
  kept: (scope: string): IndexKey => ["conversion.kept", scope],
  bytes: (scope: string): IndexKey => ["conversion.bytes", scope],
  waiting: (scope: string, accountId: string): IndexKey => ["conversion.waiting", scope, accountId],
} as const;

/** Conversions with a kept output for equal work, ordered by the time of their end. */
export function cachedOutputs(scope: string, cacheKey: string): IndexKey {
  return ["conversion.cache", scope, cacheKey];
}

export const conversionRecord = defineRecord<ConversionRecord>({
  name: "conversion",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: (conversion) => conversion.id,
  indexes({ id, context }) {
    const { accountId, createdAtMs, cacheKey, finishedAtMs = 0 } = context;
    const cached = cacheKey === undefined ? [] : [[...cachedOutputs(scopeOf(context), cacheKey), finishedAtMs, id] as const];
    return [[...conversionsOf(accountId), createdAtMs, id], ...cached];
  },
  counts({ context }) {
    const kept = counters.kept(scopeOf(context));
    return context.finishedAtMs === undefined ? [kept, counters.waiting(scopeOf(context), context.accountId)] : [kept];
  },
  sums: ({ context }) => [{ key: counters.bytes(scopeOf(context)), amount: (context.input?.bytes ?? 0) + (context.output?.bytes ?? 0) }],
  blobs: ({ context: { input, output } }) => [input, output].flatMap((stored) => (stored === undefined ? [] : [stored.sha256])),
  expiresAtMs: ({ context }) => context.expiresAtMs,
});

/** Every creation of a conversion rewrites the record of its scope, so concurrent ones exclude each other. */
export interface ConversionScopeRecord {
  readonly scope: string;
}

export const conversionScopeRecord = defineRecord<ConversionScopeRecord>({
  name: "conversionScope",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: ({ scope }) => scope,
});

/**
 * Records that a request under an Idempotency-Key has created its conversion before its answer was stored. A repeat then
 * does not create a deleted conversion again.
 */
export interface ConversionOrderRecord {
  readonly conversionId: string;
  readonly expiresAtMs: number;
}

export const conversionOrderRecord = defineRecord<ConversionOrderRecord>({
  name: "conversionOrder",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: ({ conversionId }) => conversionId,
  expiresAtMs: ({ expiresAtMs }) => expiresAtMs,
});

export const conversionRecordTypes = [conversionRecord, conversionScopeRecord, conversionOrderRecord] as const;

/** The state at this time: an output has expired at its time, even if the row that deletes it has not run yet. */
export function statusAt({ state, context: { output } }: ConversionRecord, nowMs: number): ConversionStatus {
  if (state === "succeeded" && (output === undefined || output.expiresAtMs <= nowMs)) return "expired";
  return state as ConversionStatus;
}

/** True if the conversion has ended, with or without success. */
export function hasEnded({ context }: ConversionRecord): boolean {
  return context.finishedAtMs !== undefined;
}

/** The conversion as the API shows it. `baseUrl` has no trailing slash. */
export function toConversion(record: ConversionRecord, nowMs: number, baseUrl: string): Conversion {
  const { id, context } = record;
  const { workspaceId, from, to, source, createdAtMs, finishedAtMs, output, fidelity, error } = context;
  const status = statusAt(record, nowMs);
  return {
    conversionId: id,
    status,
    from,
    to,
    source: { ...source },
    createdAt: createdAtMs / 1000,
    ...(finishedAtMs === undefined ? {} : { finishedAt: finishedAtMs / 1000 }),
    ...(output === undefined || status !== "succeeded"
      ? {}
      : {
          output: {
            url: `${baseUrl}/conversions/${id}/output`,
            contentType: output.contentType,
            bytes: output.bytes,
            sha256: output.sha256,
            expiresAt: output.expiresAtMs / 1000,
          },
        }),
    ...present({ workspaceId, fidelity, error }),
  };
}

/** The article that the conversion has written. Undefined without a target, and unless the conversion succeeded. */
export function writtenArticleOf(record: ConversionRecord, nowMs: number): string | undefined {
  const status = statusAt(record, nowMs);
  return status === "succeeded" || status === "expired" ? record.context.target?.articleId : undefined;
}
