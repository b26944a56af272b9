/**
 * Compares a store with a model that keeps only lists: after each round of random batches, both must answer the same.
 * The model derives every index row, rule and count from the records and compares keys in its own way. Therefore it
 * shares no code, and no mistake, with the store.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Batch, IndexPart, Storage } from "../../server/platform/storage/port.ts";
import { append, batch, type Item, itemType, put, remove, text, type WithStorage } from "./storageTypes.ts";

const partition = 60;

interface Model {
  records: Map<string, { value: Item; revision: number }>;
  due: Map<string, { dueAtMs: number; fence: number }>;
  logs: Map<string, { entries: string[]; trimmedTo: number }>;
}

interface RecordStep {
  readonly id: string;
  readonly value: Omit<Item, "id"> | null;
  /** What the writer believes about the record: its current revision, an old one, or that there is none. */
  readonly belief: "current" | "stale" | "absent";
}

type DueStep = {
  readonly id: string;
  readonly op: "schedule" | "arm" | "cancel" | "acknowledge" | "acknowledge.stale";
  readonly dueAtMs: number;
};
type LogStep = { readonly log: string; readonly op: "append" | "trim" | "drop"; readonly count: number };

interface Step {
  readonly records: readonly RecordStep[];
  readonly due: readonly DueStep[];
  readonly logs: readonly LogStep[];
}

const part = fc.oneof(
  fc.constantFrom<IndexPart>("", "a", "ab", "a\u0000", "\u0001", "ä", "\ud800", "\uffff", "😀", -1, -0.5, 0, 1, 10, 2 ** 40),
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
);
const value = fc.record(
  {
    keys: fc.uniqueArray(fc.array(part, { minLength: 1, maxLength: 3 }), { maxLength: 2, selector: (key) => JSON.stringify(key) }),
    name: fc.constantFrom("n1", "n2", "n3"),
    groups: fc.subarray(["g", "h"]),
  },
  { requiredKeys: [] },
);
const step: fc.Arbitrary<Step> = fc.record({
  records: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom("60/a", "60/b", "60/c", "60/ä", "60/\ud800"),
      value: fc.option(value, { freq: 5 }),
      belief: fc.oneof({ weight: 8, arbitrary: fc.constant("current" as const) }, fc.constantFrom("stale" as const, "absent" as const)),
    }),
    { maxLength: 3, selector: (write) => write.id },
  ),
  due: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom("x", "y", "z"),
      op: fc.constantFrom("schedule", "arm", "cancel", "acknowledge", "acknowledge.stale"),
      dueAtMs: fc.integer({ min: 1, max: 40 }),
    }),
    { maxLength: 2, selector: (write) => write.id },
  ),
  logs: fc.array(
    fc.record({
      log: fc.constantFrom("l", "l2"),
      op: fc.constantFrom("append", "append", "append", "trim", "drop"),
      count: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 3 },
  ),
});

/** Returns the batch of a writer that knows the model. The store may refuse it. */
function toBatch(model: Model, { records, due, logs }: Step, serial: number): Batch {
  return batch(partition, {
    records: records.flatMap(({ id, value: next, belief }) => {
      const current = model.records.get(id);
      const stale = { value: { id }, revision: (current?.revision ?? 1) + 5 };
      const replacing = belief === "absent" ? null : belief === "stale" ? stale : (current ?? null);
      if (next !== null) return [put({ id, ...next }, replacing)];
      return replacing === null ? [] : [remove(replacing)];
    }),
    due: due.map(({ id, op, dueAtMs }) => {
      const fence = model.due.get(id)?.fence ?? 1;
      const row = { id, kind: "k", dueAtMs, payload: serial, attempts: 0 };
      if (op === "schedule" || op === "arm") return { op, row };
      if (op === "cancel") return { op, id };
      return { op: "acknowledge", id, fence: op === "acknowledge" ? fence : fence + 1 };
    }),
    logs: logs.map(({ log, op, count }) => {
      if (op === "append") return append(log, ...Array.from({ length: count }, (_, at) => `${serial}.${at}`));
      return op === "trim" ? { op, log, through: count * 3 } : { op, log };
    }),
  });
}

/** Applies the batch to the model, or returns false. */
function applyTo(model: Model, { records = [], due = [], logs = [] }: Batch): boolean {
  const next = new Map(model.records);
  for (const write of records) {
    const id = write.op === "put" ? write.value.id : write.replacing.value.id;
    if (model.records.get(id)?.revision !== write.replacing?.revision) return false;
    if (write.op === "put") next.set(id, { value: write.value, revision: (write.replacing?.revision ?? 0) + 1 });
    else next.delete(id);
  }
  const names = [...next.values()].flatMap((record) => record.value.name ?? []);
  if (new Set(names).size !== names.length) return false;
  const nextDue = new Map(model.due);
  for (const write of due) {
    const id = write.op === "schedule" || write.op === "arm" ? write.row.id : write.id;
    const current = nextDue.get(id);
    if (write.op === "acknowledge" && current?.fence !== write.fence) return false;
    if (write.op === "cancel" || write.op === "acknowledge") nextDue.delete(id);
    else if (write.op === "schedule") nextDue.set(id, { dueAtMs: write.row.dueAtMs, fence: (current?.fence ?? 0) + 1 });
    else if (write.op === "arm" && current === undefined) nextDue.set(id, { dueAtMs: write.row.dueAtMs, fence: 1 });
  }
  model.records = next;
  model.due = nextDue;
  for (const write of logs) {
    const log = model.logs.get(write.log) ?? { entries: [], trimmedTo: 0 };
    if (write.op === "append") log.entries.push(...write.entries.map(text));
    if (write.op === "trim") log.trimmedTo = Math.max(log.trimmedTo, Math.min(write.through, log.entries.length));
    model.logs.set(write.log, write.op === "drop" ? { entries: [], trimmedTo: 0 } : log);
  }
  return true;
}

function comparePart(one: IndexPart, other: IndexPart): number {
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  if (typeof one === "number") return one - (other as number) || 0;
  const [these, those] = [one, other as string].map((string) => Array.from(string, (character) => character.codePointAt(0) ?? 0)) as [
    number[],
    number[],
  ];
  for (const [at, code] of these.entries()) {
    const against = those[at];
    if (against === undefined) return 1;
    if (code !== against) return code - against;
  }
  return these.length - those.length;
}

function compareKey(one: readonly IndexPart[], other: readonly IndexPart[]): number {
  for (const [at, own] of one.entries()) {
    const against = other[at];
    if (against === undefined) return 1;
    const order = comparePart(own, against);
    if (order !== 0) return Number.isNaN(order) ? 0 : order;
  }
  return one.length - other.length;
}

async function checkEqual(storage: Storage, model: Model): Promise<void> {
  const ids = ["60/a", "60/b", "60/c", "60/ä", "60/\ud800"];
  expect(await storage.records.getMany(itemType, ids)).toEqual(ids.map((id) => model.records.get(id)));
  const rows = [...model.records.values()].flatMap(({ value: item }) =>
    (item.keys ?? []).map((key) => ({ key: ["item", ...key, item.id], target: item.id })),
  );
  rows.sort((one, other) => compareKey(one.key, other.key));
  expect(await storage.index.scan({ partition, prefix: ["item"], limit: 100 })).toEqual(rows);
  expect(await storage.index.scan({ partition, prefix: ["item"], limit: 100, reverse: true })).toEqual([...rows].reverse());
  const [middle] = rows.slice(Math.floor(rows.length / 2));
  if (middle !== undefined) {
    const at = rows.indexOf(middle);
    const paging = { partition, prefix: ["item"], after: ["item", ...middle.key.slice(1)], limit: 100 } as const;
    expect(await storage.index.scan(paging)).toEqual(rows.slice(at + 1));
    expect(await storage.index.scan({ ...paging, reverse: true })).toEqual(rows.slice(0, at).reverse());
    const under = rows.filter(({ key }) => compareKey([key[1] as IndexPart], [middle.key[1] as IndexPart]) === 0);
    expect(await storage.index.scan({ partition, prefix: ["item", middle.key[1] as IndexPart], limit: 100 })).toEqual(under);
  }
  const named = (group: string) => [...model.records.values()].filter((record) => record.value.groups?.includes(group)).length;
  expect(
    await storage.counts.get(partition, [
      ["group", "g"],
      ["group", "h"],
    ]),
  ).toEqual([named("g"), named("h")]);
  for (const id of ["x", "y", "z"]) {
    const kept = await storage.due.get(partition, id);
    expect(kept && { dueAtMs: kept.dueAtMs, fence: kept.fence }).toEqual(model.due.get(id));
  }
  for (const name of ["l", "l2"]) {
    const log = model.logs.get(name) ?? { entries: [], trimmedTo: 0 };
    const tail = log.entries.length;
    const kept = log.entries.map((entry, at) => ({ position: at + 1, entry })).slice(log.trimmedTo);
    const read = await storage.log.read({ partition, log: name, after: log.trimmedTo, limit: 1000 });
    expect(
      read.gap ? read : { tail: read.tail, entries: read.entries.map(({ position, bytes }) => ({ position, entry: text(bytes) })) },
    ).toEqual({ tail, entries: kept });
    if (log.trimmedTo > 0) {
      expect(await storage.log.read({ partition, log: name, after: log.trimmedTo - 1, limit: 1 })).toEqual({
        gap: true,
        firstKept: log.trimmedTo + 1,
        tail,
      });
    }
  }
}

export function propertyTests(withStorage: WithStorage, runs: number): void {
  describe("model", () => {
    test("[ST1] random concurrent batches leave the same data as a simple model", () =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 }), (rounds) =>
          withStorage(
            async (storage) => {
              const model: Model = { records: new Map(), due: new Map(), logs: new Map() };
              let serial = 0;
              for (const round of rounds) {
                const expected: boolean[] = [];
                const results = round.map((each) => {
                  const made = toBatch(model, each, ++serial);
                  expected.push(applyTo(model, made));
                  return storage.commit(made);
                });
                expect((await Promise.all(results)).map((result) => result.ok)).toEqual(expected);
                await checkEqual(storage, model);
              }
            },
            { now: () => 1000 },
          ),
        ),
        { numRuns: runs },
      ));
  });
}
