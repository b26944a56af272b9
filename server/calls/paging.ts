/**
 * One page of a list: an index scan, or several that are merged, which loads, filters and stops.
 *
 * A request scans at most `list.scan` rows, so a page may be shorter than its limit and still carry a
 * `nextToken`. The pager reads one item more than the page holds: the last page never carries a token unless the
 * scan was cut short. It knows keys and tokens, not what the items are.
 */
import type { Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { IndexKey, IndexPart, Partition, Storage } from "../storage/port.ts";
import { createMergedScan, type Within } from "./mergedScan.ts";
import { createPageTokens } from "./pageToken.ts";

interface ListOrder {
  /** Several partitions are merged in key order; their keys must differ (end them in an id). */
  readonly partition: Partition | readonly Partition[];
  /**
   * One list, or several: those of a group are merged in the order of what follows their prefixes, which must end in an
   * id too; a group comes when the one before it has ended.
   */
  readonly prefix: IndexKey | { readonly groups: readonly (readonly IndexKey[])[] };
  /** Newest first, when the key ascends with time. */
  readonly reverse?: boolean;
  /** Only rows whose first part after the prefix lies within, both ends included. */
  readonly within?: Within | undefined;
}

export interface PageRequest<Item> extends ListOrder {
  /** Names the list with its filters and order, such as `articles?q=draft`: a token of another list is refused. */
  readonly scope: string;
  /** Default `list.limitDefault`; above `list.limitMax` the request is refused. */
  readonly limit?: number | undefined;
  readonly nextToken?: string | undefined;
  /** Items for the rows' targets, in their order; `undefined` for what is gone or not to be shown. */
  readonly load: (keys: readonly string[]) => Promise<readonly (Item | undefined)[]>;
  /** Filters that no index serves. */
  readonly keep?: ((item: Item) => boolean) | undefined;
  /** Rows from elsewhere than the store, such as those of a search; as the store would give them. */
  readonly index?: Pick<Storage["index"], "scan"> | undefined;
}

export interface Page<Item> {
  readonly items: Item[];
  readonly nextToken?: string;
}

export interface Pager {
  page<Item extends object>(request: PageRequest<Item>): Promise<Page<Item>>;
}

/** Rows read at once when a filter may throw most of them away. */
const filteredChunk = 100;

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
      const limit = request.limit ?? Math.min(limits["list.limitDefault"], limits["list.limitMax"]);
      if (limit > limits["list.limitMax"]) {
        const message = `must be at most ${limits["list.limitMax"]}`;
        throw new AppError("validation_failed", `The parameter limit ${message}.`, {
          errors: [{ pointer: "/limit", code: "too_big", message }],
        });
      }
      const { load, keep, reverse = false, within, index = storage.index } = request;
      const partitions = typeof request.partition === "number" ? [request.partition] : request.partition;
      const groups = "groups" in request.prefix ? request.prefix.groups : [[request.prefix]];
      const binding = JSON.stringify([request.scope, request.partition, request.prefix, reverse, within ?? null]);
      let after = request.nextToken === undefined ? undefined : tokens.open(binding, request.nextToken, storage.now());
      const begun = after === undefined ? { group: 0, suffix: undefined } : placeOf(groups, after);
      const chunk = keep === undefined ? limit + 1 : Math.max(limit + 1, filteredChunk);
      const found: { key: IndexKey; item: Item }[] = [];
      let budget = limits["list.scan"];
      let cut = false;
      for (const [at, prefixes] of groups.entries()) {
        if (at < begun.group || found.length > limit || cut) continue;
        const merged = createMergedScan({
          scan: index.scan,
          sources: partitions.flatMap((partition) => prefixes.map((prefix) => ({ partition, prefix }))),
          reverse,
          within,
          chunk,
          after: at === begun.group ? begun.suffix : undefined,
        });
        let ended = false;
        while (found.length <= limit && !ended && !cut) {
          const { rows, read, ...taken } = await merged.take(keep === undefined ? limit + 1 - found.length : chunk, budget);
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
        }
      }
      const overflow = found.length > limit;
      const items = found.slice(0, limit).map((entry) => entry.item);
      const last = overflow ? found[limit - 1]?.key : after;
      if ((!cut && !overflow) || last === undefined) return { items };
      return { items, nextToken: tokens.seal(binding, last, storage.now() + limits["keep.nextToken"]) };
    },
  };
}

/** Where a key stands: its group, and what follows the prefix. */
function placeOf(
  groups: readonly (readonly IndexKey[])[],
  key: IndexKey,
): { readonly group: number; readonly suffix: readonly IndexPart[] } {
  for (const [group, prefixes] of groups.entries()) {
    const prefix = prefixes.find((parts) => parts.every((part, at) => key[at] === part));
    if (prefix !== undefined) return { group, suffix: key.slice(prefix.length) };
  }
  throw new Error(`the key ${JSON.stringify(key)} of a token is in none of the lists it was made for`);
}
