/**
 * The tasks of the index as plain functions, which run in the threads of search.worker.ts.
 *
 * A thread opens the file at its first task and keeps it open. A file that cannot be used is an outcome, not an error.
 */

import {
  type FoundDocument,
  guardDamage,
  type IndexChanges,
  type IndexedPartition,
  type IndexReader,
  type IndexWriter,
  openIndexReader,
  openIndexWriter,
  removeIndexFile,
  UnusableIndexError,
} from "./indexFile.ts";
import type { StoredText } from "./port.ts";
import type { SearchTerm } from "./query.ts";
import { type Snippet, toSnippet } from "./snippet.ts";
import { readText } from "./storedText.ts";
import { toComposed } from "./tokens.ts";

export type IndexOutcome<Value> = { readonly kind: "done"; readonly value: Value } | { readonly kind: "unusable"; readonly reason: string };

let writer: IndexWriter | undefined;
let reader: IndexReader | undefined;

function attempt<Value>(work: () => Value): IndexOutcome<Value> {
  try {
    return { kind: "done", value: guardDamage(work) };
  } catch (error) {
    if (!(error instanceof UnusableIndexError)) throw error;
    reader?.close();
    reader = undefined;
    return { kind: "unusable", reason: error.message };
  }
}

function openedWriter(path: string): IndexWriter {
  writer ??= openIndexWriter(path);
  return writer;
}

function closeWriter(): void {
  const closing = writer;
  writer = undefined;
  try {
    closing?.close();
  } catch {
    // A damaged file cannot always be closed. The process keeps its descriptor until the thread ends.
  }
}

function openedReader(path: string): IndexReader | undefined {
  if (reader?.isCurrent() === false) {
    reader.close();
    reader = undefined;
  }
  reader ??= openIndexReader(path);
  return reader;
}

/** Characters of one text that are searched for a snippet, and of all texts of one answer. */
const maxSnippetText = 512 * 1024;
const maxSnippetTexts = 4 * 1024 * 1024;

export interface SnippetTask {
  readonly terms: readonly SearchTerm[];
  /** The texts of each hit, the most important first. */
  readonly hits: readonly (readonly StoredText[])[];
}

export const indexTasks = {
  /** Opens the file, or creates it, and returns how far it follows the store. */
  open: ({ path }: { readonly path: string }): IndexOutcome<{ partitions: readonly IndexedPartition[]; documents: number }> =>
    attempt(() => {
      const file = openedWriter(path);
      return { partitions: file.partitions(), documents: file.count() };
    }),

  /** Removes the file. The next task creates a new one. */
  remove({ path }: { readonly path: string }): void {
    closeWriter();
    removeIndexFile(path);
  },

  close(): void {
    closeWriter();
  },

  begin: ({
    path,
    ...partition
  }: { readonly path: string } & Pick<IndexedPartition, "partition" | "cursor" | "mark">): IndexOutcome<void> =>
    attempt(() => openedWriter(path).begin(partition)),

  /** Returns the number of documents after the changes. */
  apply: ({ path, ...changes }: { readonly path: string } & IndexChanges): IndexOutcome<number> =>
    attempt(() => {
      const file = openedWriter(path);
      file.apply(changes);
      return file.count();
    }),

  finish: ({ path, partition }: { readonly path: string; readonly partition: number }): IndexOutcome<number> =>
    attempt(() => {
      const file = openedWriter(path);
      file.finish(partition);
      return file.count();
    }),

  /** Finds nothing while there is no file. */
  find: ({
    path,
    expression,
    ranked,
    limit,
  }: {
    path: string;
    expression: string;
    ranked: number;
    limit: number;
  }): IndexOutcome<readonly FoundDocument[]> => attempt(() => openedReader(path)?.find(expression, ranked, limit) ?? []),

  /** Returns the snippet of each hit, as HTML. Hits after the first `maxSnippetTexts` characters get none. */
  snippets({ terms, hits }: SnippetTask): readonly string[] {
    let left = maxSnippetTexts;
    return hits.map((texts) => {
      let best: Snippet | undefined;
      for (const stored of texts) {
        if (left <= 0 || best?.terms === terms.length) break;
        const text = toComposed(readText(stored).slice(0, maxSnippetText));
        left -= text.length;
        const snippet = toSnippet(text, terms);
        if (best === undefined || snippet.terms > best.terms) best = snippet;
      }
      return best?.html ?? "";
    });
  },
} as const;
