/**
 * Port of the search domain: the declaration with which a domain makes its records searchable.
 *
 * Each domain has one source for one kind of record. The index follows every commit that writes such a record
 * (`changeLog.ts`), reads it through its source, and keeps nothing that a search shows: titles and texts of an answer are
 * read from the store at the moment of the question.
 */
import type { SearchKind } from "../../../api/schema/search.ts";
import type { Scope } from "../../../api/scopes.ts";
import type { AnyRecordType } from "../../platform/storage/recordType.ts";

/** A text as it is stored: as characters, or as deflated UTF-8 bytes that only a thread inflates. */
export type StoredText = string | { readonly deflated: Uint8Array };

/** The texts of a record by their weight, apart from its title. */
export interface SearchTexts {
  readonly body: readonly StoredText[];
  /** Found as well, but with half the weight. */
  readonly extra: readonly StoredText[];
}

/** A record that may be found now. */
export interface SearchItem {
  readonly id: string;
  readonly workspaceId: string;
  readonly title: string;
  readonly updatedAtMs: number;
  readonly articleId?: string | undefined;
  readonly topicId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly status?: string | undefined;
  texts(): Promise<SearchTexts>;
}

export interface SearchSource {
  /** Value of `in[]` that selects this source. */
  readonly name: string;
  /** `kind` of its hits. */
  readonly kind: SearchKind;
  /** Every commit that writes a record of this type is followed. */
  readonly record: AnyRecordType;
  /** Scopes that a key needs to find these records, in addition to that of the operation. */
  readonly scopes: readonly Scope[];
  /** States of the records; absent if they have none, so that a search with `status` is refused. */
  readonly statuses?: {
    readonly all: readonly string[];
    /** The states in which records are found by a search without `status`. */
    readonly searched: readonly string[];
  };
  /** Reads records in the order of their ids; `undefined` for a record that is missing or in the trash. */
  read(ids: readonly string[]): Promise<readonly (SearchItem | undefined)[]>;
}
