/**
 * One page of a list: an index scan that loads, filters and stops.
 *
 * A request scans at most `list.scan` rows, so a page may be shorter than its limit and still carry a
 * `nextToken`. The pager reads one item more than the page holds: the last page never carries a token unless the
 * scan was cut short. It knows keys and tokens, not what the items are.
 */
import type { Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { IndexKey, IndexPart, IndexRow, Partition, Storage } from "../storage/port.ts";
import { createPageTokens } from "./pageToken.ts";

interface ListOrder {
  /** Several partitions are merged in key order; their keys must differ (end them in an id). */
  readonly partition: Partition | readonly Partition[];
  readonly prefix: IndexKey;
  /** Newest first, when the key ascends with time. */
  readonly reverse?: boolean;
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
  readonly keep?: (item: Item) => boolean;
}

export interface Page<Item> {
  readonly items: Item[];
  readonly nextToken?: string;
}

export interface Pager {
  page<Item extends object>(request: PageRequest<Item>): Promise<Page<Item>>;
}

/** Rows read ahead when a filter may throw most of them away. */
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

  async function scan(request: ListOrder, after: IndexKey | undefined, limit: number): Promise<readonly IndexRow[]> {
    const scanOne = (partition: Partition) =>
      storage.index.scan({
        partition,
        prefix: request.prefix,
        limit,
        ...(after === undefined ? {} : { after }),
        ...(request.reverse === true ? { reverse: true } : {}),
      });
    if (typeof request.partition === "number") return scanOne(request.partition);
    const rows = (await Promise.all(request.partition.map(scanOne))).flat();
    const direction = request.reverse === true ? -1 : 1;
    return rows.sort((a, b) => direction * compareKeys(a.key, b.key)).slice(0, limit);
  }

  return {
    async page<Item extends object>(request: PageRequest<Item>) {
      const limit = request.limit ?? Math.min(limits["list.limitDefault"], limits["list.limitMax"]);
      if (limit > limits["list.limitMax"]) {
        const message = `must be at most ${limits["list.limitMax"]}`;
        throw new AppError("validation_failed", `The parameter limit ${message}.`, {
          errors: [{ pointer: "/limit", code: "too_big", message }],
        });
      }
      const { load, keep } = request;
      const binding = JSON.stringify([request.scope, request.partition, request.prefix, request.reverse === true]);
      let after = request.nextToken === undefined ? undefined : tokens.open(binding, request.nextToken, storage.now());
      const found: { key: IndexKey; item: Item }[] = [];
      let budget = limits["list.scan"];
      let ended = false;
      while (found.length <= limit && budget > 0 && !ended) {
        const missing = limit + 1 - found.length;
        const chunk = Math.min(budget, keep === undefined ? missing : Math.max(missing, filteredChunk));
        const rows = await scan(request, after, chunk);
        ended = rows.length < chunk;
        budget -= rows.length;
        const items = rows.length === 0 ? [] : await load(rows.map((row) => row.target));
        for (const [at, row] of rows.entries()) {
          after = row.key;
          const item = items[at];
          if (item === undefined || keep?.(item) === false) continue;
          found.push({ key: row.key, item });
          if (found.length > limit) break;
        }
      }
      const overflow = found.length > limit;
      const items = found.slice(0, limit).map((entry) => entry.item);
      const last = overflow ? found[limit - 1]?.key : after;
      if ((ended && !overflow) || last === undefined) return { items };
      return { items, nextToken: tokens.seal(binding, last, storage.now() + limits["keep.nextToken"]) };
    },
  };
}

/** Order of the port: numbers before strings, numbers by value, strings by code point. */
function compareKeys(a: readonly IndexPart[], b: readonly IndexPart[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [left, right] = [a[at], b[at]] as [IndexPart, IndexPart];
    if (left === right) continue;
    if (typeof left === "number" && typeof right === "number") return left - right;
    if (typeof left === "string" && typeof right === "string") return Buffer.compare(Buffer.from(left), Buffer.from(right));
    return typeof left === "number" ? -1 : 1;
  }
  return a.length - b.length;
}
