import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import Database from "libsql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type IndexedDocument, openIndexReader, openIndexWriter, removeIndexFile, UnusableIndexError } from "./indexFile.ts";
import { parseQuery, toExpression } from "./query.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "svc-search-"));
  path = join(directory, "index.db");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const documentOf = (key: string, title: string, body = ""): IndexedDocument => ({
  ...{ type: "article", key, places: "here", title },
  body: [{ deflated: deflateRawSync(body) }],
  extra: [],
});

function write(...changed: IndexedDocument[]): void {
  const writer = openIndexWriter(path);
  writer.begin({ partition: 3, cursor: 7, mark: "m" });
  writer.apply({ partition: 3, changed, removed: [], progress: { cursor: 8, mark: "n" } });
  writer.finish(3);
  writer.close();
}

function find(q: string, ranked = 100): string[] {
  const reader = openIndexReader(path);
  const found = reader?.find(toExpression(parseQuery(q, 32), { places: ["here"] }), ranked, 100) ?? [];
  reader?.close();
  return found.map(({ key }) => key);
}

test("[SR8] documents and the place of the index in the store are written together", () => {
  write(documentOf("a", "Kites"));
  const writer = openIndexWriter(path);
  const before = writer.partitions();
  expect(before).toEqual([{ partition: 3, cursor: 8, mark: "n", isBuilt: true, scanned: "" }]);
  const broken = { ...documentOf("b", "Balloons"), body: [{ deflated: Uint8Array.of(255, 255) }] };
  const changes = { partition: 3, removed: [{ type: "article", key: "a" }], progress: { cursor: 9, mark: "o" } };
  expect(() => writer.apply({ ...changes, changed: [documentOf("c", "Clouds"), broken] })).toThrow();
  expect([writer.partitions(), writer.count()]).toEqual([before, 1]);
  writer.close();
  expect([find("kites"), find("clouds")]).toEqual([["a"], []]);
});

test("[SR7] a new build keeps the documents until it ends, and then only those that it has written", () => {
  write(documentOf("a", "Kites"), documentOf("b", "Kites"));
  const writer = openIndexWriter(path);
  writer.begin({ partition: 3, cursor: 20, mark: "p" });
  writer.apply({ partition: 3, changed: [documentOf("b", "Kites")], removed: [], progress: { scanned: "article/b" } });
  expect(find("kites")).toEqual(["b", "a"]);
  expect(writer.partitions()).toEqual([{ partition: 3, cursor: 20, mark: "p", isBuilt: false, scanned: "article/b" }]);
  writer.finish(3);
  expect(writer.count()).toBe(1);
  writer.close();
  expect(find("kites")).toEqual(["b"]);
});

test("[SR5] a search ranks the documents that changed last, however many match", () => {
  write(...Array.from({ length: 30 }, (_, at) => documentOf(String(at), "Kites")));
  const writer = openIndexWriter(path);
  writer.apply({ partition: 3, changed: [documentOf("0", "Kites")], removed: [], progress: { cursor: 9, mark: "o" } });
  writer.close();
  expect(find("kites", 3)).toEqual(["0", "29", "28"]);
});

test.each([
  ["cut", () => truncateSync(path, 5000)],
  ["not a database", () => writeFileSync(path, "no database at all, but long enough to be read as one".repeat(100))],
  ["overwritten in the middle", () => writeFileSync(path, readFileSync(path).fill(0xff, 4096, 20_000))],
  [
    "of another version",
    () => {
      const file = new Database(path);
      file.exec("PRAGMA user_version = 999");
      file.close();
    },
  ],
] as const)("[SR7] a file that is %s is not used, and can be removed and made again", (_name, harm) => {
  write(documentOf("a", "Kites"));
  harm();
  expect(() => openIndexWriter(path)).toThrow(UnusableIndexError);
  removeIndexFile(path);
  expect(find("kites")).toEqual([]);
  write(documentOf("a", "Kites"));
  expect(find("kites")).toEqual(["a"]);
});
