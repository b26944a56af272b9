/** Tests which data files LMDB may map: real files of each page size, cut at every relevant length. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, type RootDatabase, type RootDatabaseOptions } from "lmdb";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StorageDamagedError } from "../port.ts";
import { openLmdb } from "./database.ts";
import { checkLmdbFile } from "./file.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lmdb-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Options = RootDatabaseOptions & { readonly noMemInit?: boolean };
const dataFile = (path: string) => join(path, "data.mdb");

async function openAt(path: string, options: Options): Promise<RootDatabase<Buffer, string>> {
  return open<Buffer, string>(path, { encoding: "binary", eventTurnBatching: false, maxDbs: 1, ...options });
}

const isCutOff = (path: string): boolean => {
  try {
    expect(checkLmdbFile(path)).toBe("good");
    return false;
  } catch (reason) {
    expect(reason).toBeInstanceOf(StorageDamagedError);
    return true;
  }
};

describe("a data file", () => {
  const variants = [4096, 8192, 16_384].flatMap((pageSize) =>
    [false, true].flatMap((overlappingSync) => [false, true].map((noMemInit) => ({ pageSize, overlappingSync, noMemInit }))),
  );

  test.each(variants)("[ST20] a data file is good exactly while it contains every page in use: %o", async (options) => {
    const path = join(folder, "whole");
    const db = await openAt(path, options);
    const expected = new Map<string, number>();
    await db.childTransaction(() => {
      for (let at = 0; at < 400; at += 1) {
        // Every tenth value fills pages of its own.
        const bytes = at % 10 === 0 ? 3 * options.pageSize : 120;
        expected.set(`key ${at}`, bytes);
        void db.put(`key ${at}`, Buffer.alloc(bytes, at));
      }
    });
    // Pages that are allocated and freed in one transaction are never written, but the meta page counts them.
    for (const round of [1, 2]) {
      await db.childTransaction(() => {
        for (let at = 0; at < 4000 * round; at += 1) void db.put(`gone ${at}`, Buffer.alloc(options.pageSize / 16));
        for (let at = 0; at < 4000 * round; at += 1) void db.remove(`gone ${at}`);
      });
    }
    await db.flushed;
    await db.close();
    const whole = dataFile(path);
    expect(checkLmdbFile(whole)).toBe("good");

    const cut = join(folder, "cut");
    mkdirSync(cut);
    copyFileSync(whole, dataFile(cut));
    const { size } = statSync(whole);
    let [tooShort, longEnough] = [0, size];
    while (longEnough - tooShort > 1) {
      const middle = Math.floor((tooShort + longEnough) / 2);
      copyFileSync(whole, dataFile(cut));
      truncateSync(dataFile(cut), middle);
      if (middle > 0 && !isCutOff(dataFile(cut))) longEnough = middle;
      else tooShort = middle;
    }
    expect(longEnough % options.pageSize).toBe(0);

    // LMDB reads everything from the shortest file that passes.
    copyFileSync(whole, dataFile(cut));
    truncateSync(dataFile(cut), longEnough);
    const again = await openAt(cut, { ...options, overlappingSync: false });
    const found = new Map(Array.from(again.getRange(), ({ key, value }) => [key, value.length]));
    await again.close();
    expect(found).toEqual(expected);
  });

  test("[ST20] a data file may be shorter than its meta page says if no page in use is missing", async () => {
    const db = openLmdb(folder);
    const missing = () => {
      const file = readFileSync(dataFile(folder));
      const pageSize = file.readUInt32LE(48);
      const pagesSaid = file.readBigUInt64LE(152) > file.readBigUInt64LE(pageSize + 152) ? 144 : pageSize + 144;
      return (Number(file.readBigUInt64LE(pagesSaid)) + 1) * pageSize - file.length;
    };
    await db.batch(() => {
      for (let at = 0; at < 50; at += 1) void db.put(`kept ${at}`, Buffer.alloc(300));
    });
    await db.batch(() => void db.put("on pages of its own", Buffer.alloc(100_000)));
    for (let round = 1; round < 10 && missing() <= 0; round += 1) {
      await db.batch(() => {
        for (let at = 0; at < 3000 * round; at += 1) void db.put(`passing ${at}`, Buffer.alloc(300));
        for (let at = 3000 * round; at > 0; at -= 1) void db.remove(`passing ${at - 1}`);
        void db.put(`kept of round ${round}`, Buffer.alloc(20));
      });
    }
    expect(missing()).toBeGreaterThan(0);
    await db.close();
    expect(checkLmdbFile(dataFile(folder))).toBe("good");
  });

  test("[ST20] a missing or empty data file counts as none, and an unreadable one is refused", () => {
    const path = dataFile(folder);
    expect(checkLmdbFile(path)).toBe("none");
    writeFileSync(path, "");
    expect(checkLmdbFile(path)).toBe("none");
    for (const content of ["x", "x".repeat(20_000), Buffer.alloc(20_000)]) {
      writeFileSync(path, content);
      expect(isCutOff(path)).toBe(true);
    }
  });
});
