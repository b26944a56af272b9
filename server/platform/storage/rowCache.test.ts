import { describe, expect, test } from "vitest";
import { defineRecord } from "./recordType.ts";
import { RowCache } from "./rowCache.ts";

interface Note {
  readonly id: string;
  readonly tags: readonly string[];
}
const toType = (version: number) =>
  defineRecord<Note>({
    name: "note",
    version,
    partitionOf: () => 0,
    keyOf: ({ id }) => id,
    ...(version === 1 ? {} : { upgrades: { 1: (older) => older } }),
  });
const [first, second] = [toType(1), toType(2)];
const stored = (revision: number) => ({ value: { id: "a", tags: ["x"] }, revision });

describe("the row cache", () => {
  test("[ST94] a row is kept until it is dropped, and only for readers of the same version", () => {
    const cache = new RowCache();
    cache.add(first, "row", stored(3), 10);
    expect(cache.get(first, "row")).toEqual(stored(3));
    expect(cache.revisionOf("row")).toBe(3);
    expect(cache.get(second, "row")).toBeUndefined();
    cache.drop(["other", "row"]);
    expect([cache.get(first, "row"), cache.revisionOf("row")]).toEqual([undefined, undefined]);
  });

  test("[ST94] a sweep removes the rows that were not read since the last one", () => {
    const cache = new RowCache();
    cache.add(first, "read", stored(1), 10);
    cache.add(first, "unread", stored(1), 10);
    cache.sweep();
    expect(cache.get(first, "read")).toEqual(stored(1));
    cache.sweep();
    expect([cache.get(first, "unread"), cache.get(first, "read")]).toEqual([undefined, stored(1)]);
  });

  test("[ST94] a value that several callers get cannot be changed", () => {
    const cache = new RowCache();
    const read = stored(1);
    cache.add(first, "row", read, 10);
    expect(() => read.value.tags.push("y")).toThrow(TypeError);
    expect(() => Object.assign(read.value, { id: "b" })).toThrow(TypeError);
    expect(cache.get(first, "row")).toEqual(stored(1));
  });

  test("[ST94] the rows in memory have at most 2 MiB of text, and a row of more than 64 KiB is not kept", () => {
    const cache = new RowCache();
    for (let row = 0; row < 100; row += 1) cache.add(first, `row ${row}`, stored(row), 64 * 1024);
    const kept = Array.from({ length: 100 }, (_, row) => row).filter((row) => cache.revisionOf(`row ${row}`) !== undefined);
    expect(kept).toEqual(Array.from({ length: 32 }, (_, at) => 68 + at));
    cache.add(first, "large", stored(1), 64 * 1024 + 1);
    expect(cache.revisionOf("large")).toBeUndefined();
  });
});
