/**
 * IndexFile keeps the search index of one node in an SQLite file with a full-text table (FTS5).
 *
 * The file is a read model, never the truth: losing it loses nothing. It holds the words of the documents, but not their
 * texts. The position of each partition is stored in the transaction of the documents, so after a crash the
 * follower continues exactly where the file ends. This module is synchronous and runs only in threads.
 */
import { existsSync, rmSync, statSync } from "node:fs";
import Database from "libsql";
import type { StoredText } from "./port.ts";
import { readText } from "./storedText.ts";
import { toIndexedText } from "./tokens.ts";

/** Rises with every change of the tables or of the words in them. A file of another version is built again. */
const version = 1;
/** Weights of the columns scope, title, body and extra. */
const weights = "0, 8, 2, 1";
const removedAtOnce = 500;

/** Position up to which the file follows a partition of the store. */
export interface IndexedPartition {
  readonly partition: number;
  /** Position in the partition's log of changes, and the entry there; empty at position 0. */
  readonly cursor: number;
  readonly mark: string;
  /** False until all records of the partition were read once. */
  readonly isBuilt: boolean;
  /** While it is not: the last record that was read, as a text that orders like the records. Empty before the first. */
  readonly scanned: string;
}

export interface DocumentKey {
  /** Name of the record type. */
  readonly type: string;
  readonly key: string;
}

export interface IndexedDocument extends DocumentKey {
  /** Words of places.ts. */
  readonly places: string;
  readonly title: string;
  readonly body: readonly StoredText[];
  readonly extra: readonly StoredText[];
}

export interface IndexChanges {
  readonly partition: number;
  readonly changed: readonly IndexedDocument[];
  readonly removed: readonly DocumentKey[];
  readonly progress: Pick<IndexedPartition, "cursor" | "mark"> | Pick<IndexedPartition, "scanned">;
}

export interface FoundDocument extends DocumentKey {
  /** Relevance; higher is better. */
  readonly score: number;
}

export interface IndexWriter {
  partitions(): readonly IndexedPartition[];
  /** Number of documents. */
  count(): number;
  /** Begins to read all records of a partition again. Its documents stay until `finish`. */
  begin(partition: Pick<IndexedPartition, "partition" | "cursor" | "mark">): void;
  apply(changes: IndexChanges): void;
  /** Removes the documents of the partition that were not written since `begin`. */
  finish(partition: number): void;
  close(): void;
}

export interface IndexReader {
  /** Returns the best documents of the `ranked` matches that changed last. */
  find(expression: string, ranked: number, limit: number): readonly FoundDocument[];
  /** False if the file at the path is another one meanwhile. */
  isCurrent(): boolean;
  close(): void;
}

/** The file cannot be used: it is damaged, or of another version. It must be removed and built again. */
export class UnusableIndexError extends Error {
  override readonly name = "UnusableIndexError";
}

/** Turns the errors of SQLite that mean a damaged file into `UnusableIndexError`. */
export function guardDamage<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    const isDamaged =
      /CORRUPT|NOTADB/.test(code) || /malformed|not a database|no such (table|column)|vtable constructor failed/.test(message);
    throw isDamaged ? new UnusableIndexError(message) : error;
  }
}

export function removeIndexFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
}

const tables = `
  CREATE TABLE partitions (
    partition INTEGER PRIMARY KEY, cursor INTEGER NOT NULL, mark TEXT NOT NULL,
    generation INTEGER NOT NULL, built INTEGER NOT NULL, scanned TEXT NOT NULL
  );
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, key TEXT NOT NULL,
    partition INTEGER NOT NULL, generation INTEGER NOT NULL, UNIQUE (type, key)
  );
  CREATE INDEX documents_of_partition ON documents (partition, generation);
  CREATE VIRTUAL TABLE words USING fts5 (
    scope, title, body, extra, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3'
  );
  PRAGMA user_version = ${version};
`;

function readVersion(file: Database.Database): number {
  return Number((file.prepare("PRAGMA user_version").get() as { user_version: number }).user_version);
}

/** Opens or creates the file. Throws `UnusableIndexError` if there is one that cannot be used. */
export function openIndexWriter(path: string): IndexWriter {
  const isNew = !existsSync(path);
  const file = guardDamage(() => new Database(path, { timeout: 5000 }));
  try {
    return guardDamage(() => toWriter(file, isNew));
  } catch (error) {
    file.close();
    throw error;
  }
}

function toWriter(file: Database.Database, isNew: boolean): IndexWriter {
  file.pragma("journal_mode = WAL");
  // A power cut may take the last transactions, and takes how far the file follows the store with them.
  file.pragma("synchronous = NORMAL");
  file.pragma("wal_autocheckpoint = 500");
  file.pragma(`journal_size_limit = ${4 * 1024 * 1024}`);
  if (isNew) file.transaction(() => file.exec(tables))();
  else if (readVersion(file) !== version) throw new UnusableIndexError(`the version is ${readVersion(file)}, not ${version}`);
  else checkPages(file);

  const readPartitions = file.prepare("SELECT partition, cursor, mark, built, scanned FROM partitions");
  let documents = Number((file.prepare("SELECT count(*) AS count FROM documents").get() as { count: number }).count);
  const begin = file.prepare(
    `INSERT INTO partitions (partition, cursor, mark, generation, built, scanned) VALUES (?, ?, ?, 1, 0, '')
     ON CONFLICT (partition) DO UPDATE SET cursor = excluded.cursor, mark = excluded.mark, generation = generation + 1, built = 0, scanned = ''`,
  );
  const findDocument = file.prepare("SELECT id FROM documents WHERE type = ? AND key = ?");
  const removeDocument = file.prepare("DELETE FROM documents WHERE id = ?");
  const removeWords = file.prepare("DELETE FROM words WHERE rowid = ?");
  const addDocument = file.prepare(
    `INSERT INTO documents (type, key, partition, generation)
     VALUES (?, ?, ?, (SELECT generation FROM partitions WHERE partition = ?))`,
  );
  const addWords = file.prepare("INSERT INTO words (rowid, scope, title, body, extra) VALUES (?, ?, ?, ?, ?)");
  const setCursor = file.prepare("UPDATE partitions SET cursor = ?, mark = ? WHERE partition = ?");
  const setScanned = file.prepare("UPDATE partitions SET scanned = ? WHERE partition = ?");
  const findOld = file.prepare(
    `SELECT id FROM documents WHERE partition = ?
     AND generation < (SELECT generation FROM partitions WHERE partition = ?) LIMIT ${removedAtOnce}`,
  );
  const setBuilt = file.prepare("UPDATE partitions SET built = 1, scanned = '' WHERE partition = ?");

  function removeId(id: unknown): void {
    removeWords.run(id);
    removeDocument.run(id);
  }

  /** Returns the number of removed documents. */
  function remove({ type, key }: DocumentKey): number {
    const row = findDocument.get(type, key) as { id: number } | undefined;
    if (row === undefined) return 0;
    removeId(row.id);
    return 1;
  }

  const apply = file.transaction(({ partition, changed, removed, progress }: IndexChanges) => {
    let added = changed.length;
    for (const key of removed) added -= remove(key);
    for (const { type, key, places, title, body, extra } of changed) {
      // A changed document gets a new number, because a search ranks the documents with the highest numbers.
      added -= remove({ type, key });
      const { lastInsertRowid } = addDocument.run(type, key, partition, partition);
      addWords.run(lastInsertRowid, places, toIndexedText(title), toColumn(body), toColumn(extra));
    }
    if ("cursor" in progress) setCursor.run(progress.cursor, progress.mark, partition);
    else setScanned.run(progress.scanned, partition);
    return added;
  });

  const removeOld = file.transaction((partition: number) => {
    const rows = findOld.all(partition, partition) as { id: number }[];
    for (const { id } of rows) removeId(id);
    if (rows.length === 0) setBuilt.run(partition);
    return rows.length;
  });

  return {
    partitions: () =>
      (readPartitions.all() as { partition: number; cursor: number; mark: string; built: number; scanned: string }[]).map(
        ({ built, ...rest }) => ({ ...rest, isBuilt: built === 1 }),
      ),
    count: () => documents,
    begin: ({ partition, cursor, mark }) => void begin.run(partition, cursor, mark),
    apply(changes) {
      documents += apply(changes) as number;
    },
    finish(partition) {
      for (let removed = removedAtOnce; removed > 0; documents -= removed) removed = removeOld(partition) as number;
    },
    close() {
      file.pragma("wal_checkpoint(TRUNCATE)");
      file.close();
    },
  };
}

/** The words of several texts, in one column. */
function toColumn(texts: readonly StoredText[]): string {
  return texts.map((text) => toIndexedText(readText(text))).join(" ");
}

function checkPages(file: Database.Database): void {
  const [row] = file.prepare("PRAGMA quick_check(1)").all() as Record<string, string>[];
  const found = row === undefined ? "no answer" : String(Object.values(row)[0]);
  if (found !== "ok") throw new UnusableIndexError(found);
}

/** Opens the file for searches; undefined if there is none, or one that is not built yet or of another version. */
export function openIndexReader(path: string): IndexReader | undefined {
  const inode = inodeOf(path);
  if (inode === undefined) return undefined;
  const file = guardDamage(() => new Database(path, { timeout: 5000 }));
  try {
    return guardDamage(() => {
      if (readVersion(file) !== version) {
        file.close();
        return undefined;
      }
      return toReader(file, () => inodeOf(path) === inode);
    });
  } catch (error) {
    file.close();
    throw error;
  }
}

function toReader(file: Database.Database, isCurrent: () => boolean): IndexReader {
  file.pragma("query_only = ON");
  // The inner query is bounded before the matches are sorted, so a word that all documents have costs no more than others.
  const find = file.prepare(
    `WITH matches AS MATERIALIZED (
       SELECT rowid AS id, bm25(words, ${weights}) AS rank FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?
     )
     SELECT documents.type, documents.key, -matches.rank AS score FROM matches JOIN documents ON documents.id = matches.id
     ORDER BY matches.rank, matches.id DESC LIMIT ?`,
  );
  return {
    find: (expression, ranked, limit) => find.all(expression, ranked, limit) as FoundDocument[],
    isCurrent,
    close: () => void file.close(),
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
