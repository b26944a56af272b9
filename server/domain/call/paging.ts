/**
 * This module reads one page of a list: it scans one index or several merged ones, loads the items and filters them.
 *
 * A request scans at most `list.scan` rows, so a page may be shorter than its limit and still have a `nextToken`. The
 * pager reads one item more than the page holds, so the last page never has a token unless the scan hit that bound.
 * This module knows keys and tokens, but not the items.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { IndexKey, IndexPart, Partition, Storage } from "../../platform/storage/port.ts";
import { startsWith } from "./indexRows.ts";
import { createMergedScan, type Within } from "./mergedScan.ts";
import { createPageTokens } from "./pageToken.ts";
import { findSparsestList } from "./sparsestList.ts";

interface ListOrder {
  /** Several partitions are merged in key order. Their keys must differ, so they must end in an id. */
  readonly partition: Partition | readonly Partition[];
  /**
   * The prefix of one list, or groups of prefixes. The lists of one group are merged, ordered by the key parts that
   * follow their prefixes; these parts must end in an id too. A group starts when the previous group has ended.
   * `anyOf`: lists of one partition, each of which contains every wanted item; the pages read the sparsest one.
   */
  readonly prefix:
    | IndexKey
    | { readonly groups: readonly (readonly IndexKey[])[] }
    | { readonly anyOf: readonly [IndexKey, ...IndexKey[]] };
  /** Returns the newest items first, if the key increases with time. */
  readonly reverse?: boolean;
  /** Return only rows whose first part after the prefix is in this range, both ends included. */
  readonly within?: Within | undefined;
}

/** Query parameters of a list. */
export interface PageQuery {
  /** Defaults to `list.limitDefault`. A value above `list.limitMax` is rejected with `validation_failed`. */
  readonly limit?: number | undefined;
  readonly nextToken?: string | undefined;
}

export interface PageRequest<Item> extends ListOrder, PageQuery {
  /** Names the list with its filters and order, such as `articles?q=draft`. A token of another list is rejected. */
  readonly scope: string;
  /** Length of a page of a list that takes no `limit`. It should be below `list.scan`, the rows that a request may read. */
  readonly size?: number | undefined;
  /**
   * Loads the items for the targets of the rows, in the same order; `undefined` for an item that is deleted or must be
   * hidden.
   */
  readonly load: (keys: readonly string[]) => Promise<readonly (Item | undefined)[]>;
  /** Filter for conditions that no index covers. */
  readonly keep?: ((item: Item) => boolean) | undefined;
  /** The weight of an item, and the most that a page weighs unless it has only one item. */
  readonly weight?: { readonly of: (item: Item) => number; readonly max: number } | undefined;
  /** Source of the rows when it is not the store, such as a search. Rows must have the form and order of the store. */
  readonly index?: Pick<Storage["index"], "scan"> | undefined;
}

export interface Page<Item> {
  readonly items: Item[];
  readonly nextToken?: string;
}

export interface Pager {
  page<Item extends object>(request: PageRequest<Item>): Promise<Page<Item>>;
}

/** Minimum number of rows per read after the first when a filter may discard most of them. */
const filteredChunk = 100;

/** Each of several lists is sampled with one in this many of the rows that a request may read. */
const sampleShare = 50;

/** Returns the length of a page: `asked`, or the default. Throws `validation_failed` above `list.limitMax`. */
export function toPageLimit(asked: number | undefined, limits: Pick<Limits, "list.limitDefault" | "list.limitMax">): number {
  const max = limits["list.limitMax"];
  const limit = asked ?? Math.min(limits["list.limitDefault"], max);
  if (limit <= max) return limit;
  const message = `must be at most ${max}`;
  throw new AppError("validation_failed", `The parameter limit ${message}.`, { errors: [{ pointer: "/limit", code: "too_big", message }] });
}

export function createPager({
  storage,
  pageKey,
  limits,
}: {
  storage: Pick<Storage, "index" | "now">;
  pageKey: Uint8Array;
  limits: Limits;
}): Pager {
  const tokens = createPageTokens(pageKey);

  return {
    async page<Item extends object>(request: PageRequest<Item>) {
      const limit = request.size ?? toPageLimit(request.limit, limits);
      const { load, keep, weight, reverse = false, within, index = storage.index } = request;
      const partitions = typeof request.partition === "number" ? [request.partition] : request.partition;
      const binding = JSON.stringify([request.scope, request.partition, request.prefix, reverse, within ?? null]);
      let after = request.nextToken === undefined ? undefined : tokens.open(binding, request.nextToken, storage.now());
      let budget = limits["list.scan"];
      async function choose(lists: readonly [IndexKey, ...IndexKey[]]): Promise<IndexKey> {
        // The token of a page belongs to the list that the first page chose.
        const begun = lists.find((list) => after !== undefined && startsWith(after, list));
        if (begun !== undefined) return begun;
        const [partition = 0] = partitions;
        const sample = Math.floor(budget / sampleShare);
        const { list, read } = await findSparsestList({ scan: index.scan, partition, lists, reverse, sample });
        budget -= read;
        return list;
      }
      const { prefix } = request;
      const groups = "groups" in prefix ? prefix.groups : [["anyOf" in prefix ? await choose(prefix.anyOf) : prefix]];
      const begun = after === undefined ? { group: 0, suffix: undefined } : placeOf(groups, after);
      const found: { key: IndexKey; item: Item }[] = [];
      let cut = false;
      for (const [at, prefixes] of groups.entries()) {
        if (at < begun.group || found.length > limit || cut) continue;
        const merged = createMergedScan({
          scan: index.scan,
          sources: partitions.flatMap((partition) => prefixes.map((prefix) => ({ partition, prefix }))),
          reverse,
          within,
          after: at === begun.group ? begun.suffix : undefined,
        });
        // A filter often keeps every row, as in a search for one word, so only the rows of one page are read at first.
        let count = limit + 1 - found.length;
        let chunk = limit + 1;
        let ended = false;
        while (found.length <= limit && !ended && !cut) {
          const { rows, read, ...taken } = await merged.take(count, budget, chunk);
          budget -= read;
          ended = taken.ended;
          cut = !ended && budget <= 0;
          const items = rows.length === 0 ? [] : await load(rows.map((row) => row.target));
          for (const [place, row] of rows.entries()) {
            after = row.key;
            const item = items[place];
            if (item === undefined || keep?.(item) === false) continue;
            found.push({ key: row.key, item });
            if (found.length > limit) break;
          }
          if (keep !== undefined) chunk = Math.max(limit + 1, filteredChunk);
          count = keep === undefined ? limit + 1 - found.length : chunk;
        }
      }
      const fitting =
        weight === undefined
          ? limit
          : Math.min(
              limit,
              countFitting(found, ({ item }) => weight.of(item), weight.max),
            );
      const overflow = found.length > fitting;
      const items = found.slice(0, fitting).map((entry) => entry.item);
      const last = overflow ? found[fitting - 1]?.key : after;
      if ((!cut && !overflow) || last === undefined) return { items };
      return { items, nextToken: tokens.seal(binding, last, storage.now() + limits["keep.nextToken"]) };
    },
  };
}

/** Returns how many entries weigh at most `max` together, but at least one. */
function countFitting<Entry>(entries: readonly Entry[], weigh: (entry: Entry) => number, max: number): number {
  let left = max;
  const end = entries.findIndex((entry, at) => {
    left -= weigh(entry);
    return left < 0 && at > 0;
  });
  return end < 0 ? entries.length : end;
}

/** Returns the group of a key and the key parts that follow its prefix. */
function placeOf(
  groups: readonly (readonly IndexKey[])[],
  key: IndexKey,
): { readonly group: number; readonly suffix: readonly IndexPart[] } {
  for (const [group, prefixes] of groups.entries()) {
    const prefix = prefixes.find((parts) => startsWith(key, parts));
    if (prefix !== undefined) return { group, suffix: key.slice(prefix.length) };
  }
  throw new Error(`the key ${JSON.stringify(key)} of a token is in none of the lists it was made for`);
}
