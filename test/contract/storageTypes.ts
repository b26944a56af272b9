/** The storage that a suite opens, the record types that the suites write, and short ways to build batches of them. */
import type { Batch, IndexKey, Partition, RecordType, RecordWrite, Storage, Stored } from "../../server/platform/storage/port.ts";
import { type AnyRecordType, defineRecord } from "../../server/platform/storage/recordType.ts";

export interface OpenOptions {
  readonly now?: () => number;
  readonly recordTypes?: readonly AnyRecordType[];
}

/** Opens an empty store and runs the test on it; the store is closed and gone afterwards. */
export type WithStorage = (test: (storage: Storage) => Promise<void>, options?: OpenOptions) => Promise<void>;

export interface Item {
  readonly id: string;
  /** Index keys `["item", ...key, id]`. */
  readonly keys?: readonly (readonly (string | number)[])[];
  readonly name?: string;
  readonly groups?: readonly string[];
  readonly amounts?: Readonly<Record<string, number>>;
  readonly blobs?: readonly string[];
  readonly expiresAtMs?: number;
  readonly text?: string;
}

/** Ids begin with their partition: `07/anything`. */
const partitionOfItem = (id: string): Partition => Number(id.slice(0, 2));

const base: Omit<RecordType<Item>, "name" | "version"> = {
  partitionOf: partitionOfItem,
  keyOf: (item) => item.id,
  indexes: (item) => (item.keys ?? []).map((key): IndexKey => ["item", ...key, item.id]),
  unique: (item) => (item.name === undefined ? [] : [["name", item.name]]),
  counts: (item) => (item.groups ?? []).map((group): IndexKey => ["group", group]),
  sums: (item) => Object.entries(item.amounts ?? {}).map(([name, amount]) => ({ key: ["amount", name], amount })),
  blobs: (item) => item.blobs ?? [],
  expiresAtMs: (item) => item.expiresAtMs,
};

export const itemType = defineRecord<Item>({ ...base, name: "item", version: 1 });
/** The same rows, read by a later version of the server, which converts `text` to capitals. */
export const itemTypeLater = defineRecord<Item>({
  ...base,
  name: "item",
  version: 3,
  upgrades: {
    1: (older) => ({ ...(older as Item), text: `${(older as Item).text ?? ""}!` }),
    2: (older) => ({ ...(older as Item), text: (older as Item).text?.toUpperCase() }),
  },
});
export const otherType = defineRecord<Item>({
  ...base,
  name: "other",
  version: 1,
  indexes: () => [],
  unique: () => [],
  counts: base.counts ?? (() => []),
});

export const put = (value: Item, replacing: Stored<Item> | null = null, type = itemType): RecordWrite<Item> => ({
  op: "put",
  type,
  value,
  replacing,
});

export const remove = (replacing: Stored<Item>, type = itemType): RecordWrite<Item> => ({ op: "delete", type, replacing });

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array): string => new TextDecoder().decode(value);

export const append = (log: string, ...entries: string[]) => ({ op: "append", log, entries: entries.map(bytes) }) as const;

export const batch = (partition: Partition, rest: Omit<Batch, "partition">): Batch => ({ partition, ...rest });
