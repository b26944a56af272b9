/**
 * The commit layout converts a batch into the keys and arguments of the commit script.
 *
 * The changes derived from a record (index rows, counts and so on) are computed here, from the caller's copy of the old
 * value. Each stored row begins with a digest of the changes that were derived from its value. If the digest of the
 * caller's copy differs, the copy is not the stored value: the script then returns the stored row, and the layout is
 * computed again from that row.
 */
import { createHash } from "node:crypto";
import { checkLogWrite } from "../commitBatch.ts";
import { type DerivedChanges, derive, expireKind } from "../derive.ts";
import { toByteText } from "../orderedKey.ts";
import type { Batch, DueRow, DueWrite, IndexKey, LogWrite, Partition, RecordWrite } from "../port.ts";
import { decodeRow, encodeRow, hasOlderIndex, toJsonText } from "../recordRow.ts";
import type { AnyRecordType, RecordTypes } from "../recordType.ts";
import { type Argument, redisKeys, splitEncoded, toArgument, toDueId, toLogName, toRecordField } from "./keys.ts";

/** Length of the digest at the start of a stored row, in characters. The commit script contains the same number. */
export const digestLength = 16;

function toDigest(type: RecordWrite["type"], key: string, value: unknown): string {
  const { indexAdded, uniqueAdded, counts, blobs, expiry } = derive(type, key, undefined, value);
  const counted = [...counts].map(([counter, amount]) => (amount === 1 ? counter : [counter, amount]));
  const text = JSON.stringify([indexAdded, [...uniqueAdded.keys()], counted, [...blobs.keys()], expiry?.dueAtMs]);
  return createHash("sha256").update(text).digest("base64url").slice(0, digestLength);
}

/** Collects KEYS of the script. Each key is listed once. */
class Keys {
  readonly list: Argument[] = [];
  readonly #places = new Map<string, string>();

  place(key: Argument): string {
    const name = typeof key === "string" ? key : key.toString("latin1");
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = String(this.list.push(key));
    this.#places.set(name, place);
    return place;
  }
}

export interface PlannedRecord {
  readonly write: RecordWrite<unknown>;
  readonly key: string;
  /** The stored row, if the script returned it because the caller's copy was stale. */
  stored?: string;
}

const toBytes = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function checkPartition(batch: Batch, type: AnyRecordType, key: string): void {
  const partition = type.partitionOf(key);
  if (partition !== batch.partition) {
    throw new Error(`a batch of partition ${batch.partition} names ${type.name} ${key} of partition ${partition}`);
  }
}

export function toPlannedRecords(batch: Batch, recordTypes: RecordTypes | undefined): readonly PlannedRecord[] {
  const seen = new Set<string>();
  return (batch.records ?? []).map((write: RecordWrite<unknown>) => {
    const { type, replacing } = write;
    if (recordTypes !== undefined && recordTypes.get(type.name) !== type) throw new Error(`record type ${type.name} is not listed`);
    const key = type.keyOf(write.op === "put" ? write.value : write.replacing.value);
    if (replacing !== null && type.keyOf(replacing.value) !== key) throw new Error(`${type.name} ${key} replaces a record of another key`);
    checkPartition(batch, type, key);
    const name = `${type.name}\x00${key}`;
    if (seen.has(name)) throw new Error(`a batch writes ${type.name} ${key} twice`);
    seen.add(name);
    return { write, key };
  });
}

function toRowArguments({ kind, dueAtMs, payload, attempts }: Omit<DueRow, "id">): readonly Argument[] {
  return [
    toJsonText(attempts, "a due row"),
    toJsonText(dueAtMs, "a due row"),
    toJsonText(kind, "a due row"),
    toJsonText(payload, "a due row"),
  ];
}

function toDueArguments(partition: Partition, write: DueWrite): readonly Argument[] {
  if (write.op === "schedule" || write.op === "arm")
    return [write.op, toArgument(toDueId(partition, write.row.id)), ...toRowArguments(write.row)];
  const id = toArgument(toDueId(partition, write.id));
  if (write.op === "cancel") return [write.op, id];
  if (write.op === "acknowledge") return [write.op, id, String(write.fence)];
  const { attempts, dueAtMs, payload } = write;
  const text = payload === undefined ? "" : toJsonText(payload, "a due row");
  return [write.op, id, String(write.fence), toJsonText(attempts, "a due row"), toJsonText(dueAtMs, "a due row"), text];
}

function toExpiryWrite({ expiry }: DerivedChanges): readonly DueWrite[] {
  if (expiry === undefined) return [];
  const { id, dueAtMs, payload } = expiry;
  if (dueAtMs === null) return [{ op: "cancel", id }];
  return [{ op: "schedule", row: { id, kind: expireKind, dueAtMs, payload, attempts: 0 } }];
}

export interface Layout {
  readonly keys: readonly Argument[];
  readonly args: readonly Argument[];
  /** Unique rules by their encoded form. The script uses that form to name a rule that another record already has. */
  readonly rules: ReadonlyMap<string, IndexKey>;
}

function toLogArguments(partition: Partition, write: LogWrite, keys: Keys): readonly Argument[] {
  const name = toLogName(partition, write.log);
  const head = [write.op, keys.place(redisKeys.log(partition, name)), toArgument(name)];
  if (write.op === "drop") return head;
  if (write.op === "trim") return [...head, String(write.through)];
  const twin = write.twin === undefined ? undefined : toLogName(partition, write.twin);
  const other = twin === undefined ? ["0", ""] : [keys.place(redisKeys.log(partition, twin)), toArgument(twin)];
  return [...head, ...other, String(write.entries.length), ...write.entries.map(toBytes)];
}

function add(sums: Map<string, number>, moves: ReadonlyMap<string, number>): void {
  for (const [key, move] of moves) sums.set(key, (sums.get(key) ?? 0) + move);
}

export function layOut(batch: Batch, records: readonly PlannedRecord[], nowMs: number): Layout {
  const { partition, require = [], due = [], logs = [] } = batch;
  const keys = new Keys();
  const rules = new Map<string, IndexKey>();
  const requirements: Argument[] = [];
  for (const [at, requirement] of require.entries()) {
    if (requirement.kind === "fence") requirements.push("fence", requirement.lease, String(requirement.atLeast));
    else if (requirement.kind === "due") {
      requirements.push("due", toArgument(toDueId(partition, requirement.id)), String(requirement.fence));
    } else if (requirement.kind === "tail") {
      requirements.push("tail", toArgument(toLogName(partition, requirement.log)), String(requirement.position));
    } else {
      const { type, key, revision } = requirement;
      checkPartition(batch, type, key);
      const field = toArgument(toRecordField(partition, type.name, key));
      requirements.push("revision", String(at), keys.place(redisKeys.records(partition, type.name)), field);
      requirements.push(revision === "absent" ? "0" : String(revision));
    }
  }

  const rows: Argument[] = [];
  const indexes: Argument[] = [];
  const freed: Argument[] = [];
  const taken: Argument[] = [];
  const counts = new Map<string, number>();
  const blobs = new Map<string, number>();
  const expiries: DueWrite[] = [];
  for (const { write, key, stored } of records) {
    const { type, replacing } = write;
    const field = toArgument(toRecordField(partition, type.name, key));
    const older = stored === undefined ? replacing?.value : decodeRow(type, stored.slice(digestLength)).value;
    const newer = write.op === "put" ? write.value : undefined;
    const revision = replacing?.revision ?? 0;
    const digest = replacing === null ? "" : stored === undefined ? toDigest(type, key, older) : stored.slice(0, digestLength);
    const row = write.op === "put" ? toDigest(type, key, newer) + encodeRow(type, { value: newer, revision: revision + 1 }) : "";
    rows.push(keys.place(redisKeys.records(partition, type.name)), field, String(revision), digest, row);
    // If an earlier declaration derived other keys from the value, the digests differ, so the script has returned the row.
    const olderIndex = stored !== undefined && hasOlderIndex(type, stored.slice(digestLength));
    const derived = derive(type, key, older, newer, olderIndex);
    const owner = toArgument(`${type.name}\x00${toByteText(key)}`);
    for (const [sign, encodedKeys] of [
      ["-", derived.indexRemoved],
      ["+", derived.indexAdded],
    ] as const) {
      for (const encoded of encodedKeys) {
        const { name, rest } = splitEncoded(encoded);
        indexes.push(sign, keys.place(redisKeys.index(partition, name)), toArgument(`${rest}\x00${toByteText(key)}`));
      }
    }
    for (const encoded of derived.uniqueRemoved) freed.push(toArgument(encoded), owner);
    for (const [encoded, rule] of derived.uniqueAdded) {
      rules.set(encoded, rule);
      taken.push(toArgument(encoded), owner);
    }
    add(counts, derived.counts);
    add(blobs, derived.blobs);
    expiries.push(...toExpiryWrite(derived));
  }
  const moved = [...counts].filter(([, move]) => move !== 0);
  const referred = [...blobs].filter(([, move]) => move !== 0);
  const dueWrites = [...due, ...expiries];
  const dueArguments = dueWrites.map((write) => toDueArguments(partition, write));
  for (const write of logs) checkLogWrite(partition, write);
  const logArguments = logs.flatMap((write) => toLogArguments(partition, write, keys));

  const place = (needed: boolean, key: Argument) => (needed ? keys.place(key) : "0");
  const has = (kind: "fence" | "due" | "tail") => require.some((requirement) => requirement.kind === kind);
  const touchesDue = dueWrites.length > 0 || referred.length > 0;
  const header = [
    place(freed.length + taken.length > 0, redisKeys.unique(partition)),
    place(moved.length > 0, redisKeys.counts(partition)),
    place(referred.length > 0, redisKeys.blobReferences(partition)),
    place(touchesDue || has("due"), redisKeys.due(partition)),
    place(touchesDue, redisKeys.dueOrder(partition)),
    place(logs.length > 0 || has("tail"), redisKeys.logs(partition)),
    place(has("fence"), redisKeys.leases(partition)),
  ];
  const blobArguments = referred.flatMap(([sha256, move]) => [
    sha256,
    keys.place(redisKeys.blob(partition, sha256)),
    String(move),
    String(nowMs),
  ]);
  const args = [
    ...header,
    String(require.length),
    ...requirements,
    String(records.length),
    ...rows,
    String(indexes.length / 3),
    ...indexes,
    String(freed.length / 2),
    ...freed,
    String(taken.length / 2),
    ...taken,
    String(dueArguments.length),
    ...dueArguments.flat(),
    String(moved.length),
    ...moved.flatMap(([encoded, move]) => [toArgument(encoded), String(move)]),
    String(referred.length),
    ...blobArguments,
    String(logs.length),
    ...logArguments,
  ];
  // Redis needs at least one key to find the partition's slot in a Cluster.
  if (keys.list.length === 0) keys.place(redisKeys.due(partition));
  return { keys: keys.list, args, rules };
}
