import { describe, expect, test } from "vitest";
import { idPattern, idPrefixes } from "../../../api/schema/id.ts";
import { createIds, createSeededIds, partitionOfId, randomPartition } from "./ids.ts";
import { partitionCount } from "./port.ts";

const nowMs = 1_795_228_972_596;

describe("ids", () => {
  test("[ST23] an id has its prefix, its time and its partition, and matches the contract's pattern", () => {
    const ids = createIds({ now: () => nowMs });
    for (let partition = 0; partition < partitionCount; partition += 1) {
      for (const prefix of idPrefixes) {
        const id = ids.next(prefix, partition);
        expect(id).toMatch(idPattern(prefix));
        expect(partitionOfId(id)).toBe(partition);
      }
    }
    const [at] =
      ids
        .next("art", 0)
        .split("_")[1]
        ?.match(/^.{10}/) ?? [];
    const time = [...(at ?? "")].reduce((sum, character) => sum * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(character), 0);
    expect(time).toBe(nowMs);
  });

  test("[ST23] the partition's characters are 00 to 1Z", () => {
    const ids = createIds({ now: () => nowMs });
    const characters = (partition: number) => ids.next("ws", partition).slice(13, 15);
    expect([0, 9, 31, 32, 63].map(characters)).toEqual(["00", "09", "0Z", "10", "1Z"]);
    for (const partition of [-1, 64, 1.5, Number.NaN]) expect(() => ids.next("ws", partition)).toThrow(RangeError);
  });

  test("[ST23] ids do not repeat, and sort by their time", () => {
    const ids = createIds({ now: () => nowMs });
    expect(new Set(Array.from({ length: 5000 }, () => ids.next("evt", 3))).size).toBe(5000);
    expect(createIds({ now: () => nowMs + 1 }).next("evt", 0) > ids.next("evt", 63)).toBe(true);
    expect(() => createIds({ now: () => 2 ** 48 }).next("evt", 0)).toThrow(RangeError);
  });

  test("[ST23] a text without a partition is refused", () => {
    const good = createIds({ now: () => nowMs }).next("art", 5);
    for (const bad of [
      "",
      "art_",
      good.slice(0, -1),
      `${good}0`,
      good.replace(/^art_/, "art"),
      `${good.slice(0, 14)}20${good.slice(16)}`,
      `${good.slice(0, 14)}0u${good.slice(16)}`,
    ]) {
      expect(() => partitionOfId(bad)).toThrow(RangeError);
    }
  });

  test("[ST23] the same seed gives the same ids in the same order; another seed gives others", () => {
    const seed = new Uint8Array(16).fill(7);
    const take = (source: ReturnType<typeof createSeededIds>) => [
      source.next("art", 3),
      Buffer.from(source.bytes(70)).toString("hex"),
      source.next("cmt", 3),
    ];
    const first = take(createSeededIds(seed, nowMs));
    expect(take(createSeededIds(Uint8Array.from(seed), nowMs))).toEqual(first);
    expect(new Set([...first, ...take(createSeededIds(new Uint8Array(16).fill(8), nowMs))]).size).toBe(6);
    expect(partitionOfId(first[0] as string)).toBe(3);
    expect(() => createSeededIds(new Uint8Array(15), nowMs)).toThrow(RangeError);
  });

  test("[ST23] a random partition is one of the 64", () => {
    const drawn = new Set(Array.from({ length: 4000 }, randomPartition));
    expect([...drawn].sort((one, other) => one - other)).toEqual(Array.from({ length: partitionCount }, (_, at) => at));
  });

  test("[ST23] random bytes have the requested length and differ each time", () => {
    const ids = createIds({ now: () => nowMs });
    for (const count of [0, 1, 32, 5000]) expect(ids.bytes(count)).toHaveLength(count);
    const one = ids.bytes(16);
    const kept = Uint8Array.from(one);
    for (let times = 0; times < 600; times += 1) expect(ids.bytes(16)).not.toEqual(kept);
    expect(one).toEqual(kept);
  });
});
