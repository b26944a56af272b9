/**
 * Follower keeps the index of this node up to date with the store.
 *
 * It reads the log of changes of each partition, reads the changed records, and writes them to the index together with
 * the position that it has reached. A partition that the index does not know, or whose log no longer has the position, is
 * built: all of its records are read once, in pieces between which changes are followed. A build that was interrupted
 * continues at its last piece. The bus wakes the follower. It may lose messages, so the follower also compares the ends of
 * all logs once a second, unless no other process writes the store. The index is opened some time after the start, or at
 * the first search, because opening it costs a thread that a start does not need.
 */
import type { Logger } from "pino";
import type { Clock } from "../../../realtime/ports.ts";
import { type Partition, partitionCount, type Storage } from "../../platform/storage/port.ts";
import { type Change, changeLog, decodeChange, toMark } from "./changeLog.ts";
import { createWithDependents } from "./dependents.ts";
import type { IndexedDocument, IndexedPartition } from "./indexFile.ts";
import { toPlaces } from "./places.ts";
import type { SearchItem, SearchSource, StoredText } from "./port.ts";
import { type SearchIndex, UnusableIndex } from "./searchIndex.ts";

export interface FollowerOptions {
  readonly storage: Pick<Storage, "records" | "log" | "bus">;
  readonly clock: Pick<Clock, "after">;
  readonly index: Pick<SearchIndex, "open" | "remove" | "begin" | "apply" | "finish">;
  readonly sources: readonly SearchSource[];
  readonly log: Logger;
  /** False if no other process writes the store. */
  readonly polls: boolean;
  readonly pollMs?: number;
  /** Milliseconds from the start until the index is opened, if no search needs it earlier. */
  readonly openAfterMs?: number;
}

/** `rebuilding`: some records may not be in the index yet. */
export type IndexState = "ready" | "rebuilding";

export interface IndexProgress {
  /** `failed`: the index cannot be written at the moment; the follower retries. */
  readonly state: IndexState | "failed";
  readonly documents: number;
  /** Partitions of the store whose records were all read, out of 64. */
  readonly builtPartitions: number;
}

export interface Follower {
  start(): void;
  /** Opens the index now, because a search needs it. */
  wake(): void;
  /** State of the records of one partition; undefined if there is no index and it cannot be opened. */
  stateOf(partition: Partition): IndexState | undefined;
  progress(): IndexProgress;
  /** Removes the index and builds it again, because a search found it damaged. */
  rebuild(): void;
  stop(): Promise<void>;
}

/** Where the index is in a partition. */
interface Place extends IndexedPartition {
  /** The records that a build has still to read. */
  scan?: AsyncIterator<Change>;
}

/** Records in one transaction of the index. */
const batchRecords = 200;
/** Stored bytes of their texts, above which the transaction is divided. */
const batchBytes = 8 * 1024 * 1024;
/** Records whose texts are read at once. */
const readAtOnce = 20;
const retryMs = 1000;
const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);

export function createFollower(options: FollowerOptions): Follower {
  const { storage, clock, index, sources, log, polls, pollMs = 1000, openAfterMs = 5000 } = options;
  const sourceOf = new Map(sources.map((source) => [source.record.name, source]));
  const withDependents = createWithDependents(sources);
  const places = new Map<Partition, Place>();
  /** Partitions whose logs may have entries that were not followed. */
  const awake = new Set<Partition>();
  let documents = 0;
  let isOpen = false;
  let isDamaged = false;
  /** Damaged files since the last success. */
  let damages = 0;
  let hasFailed = false;
  let isStopped = true;
  /** False until the index is needed. */
  let isNeeded = false;
  let running: Promise<void> | undefined;
  let cancelTimer: (() => void) | undefined;
  let unsubscribe: (() => void) | undefined;

  async function readEntry(partition: Partition, position: number): Promise<string | undefined> {
    if (position === 0) return "";
    const read = await storage.log.read({ partition, log: changeLog, after: position - 1, limit: 1 });
    const entry = read.gap ? undefined : read.entries[0];
    return entry === undefined ? undefined : toMark(entry.bytes);
  }

  async function open(): Promise<void> {
    const opened = await index.open();
    places.clear();
    documents = opened.documents;
    const known = new Map(opened.partitions.map((place) => [place.partition, place]));
    for (const partition of partitions) {
      const place = known.get(partition);
      // Another entry at the position means another store, or an older state of this store.
      if (place === undefined || (await readEntry(partition, place.cursor)) !== place.mark) await begin(partition);
      else places.set(partition, place);
      awake.add(partition);
    }
    isOpen = true;
  }

  /** The position is read before the records, so a change between the two is followed afterwards. */
  async function begin(partition: Partition): Promise<void> {
    const cursor = await storage.log.tail(partition, changeLog);
    // An entry that is no longer kept has no mark, so the partition is built once more at the next start.
    const mark = (await readEntry(partition, cursor)) ?? "";
    await index.begin({ partition, cursor, mark });
    places.set(partition, { partition, cursor, mark, isBuilt: false, scanned: "" });
  }

  async function toDocument(source: SearchSource, item: SearchItem): Promise<IndexedDocument> {
    const { body, extra } = await item.texts();
    const title = item.hasForeignTitle === true ? "" : item.title;
    return { type: source.record.name, key: item.id, places: toPlaces(source, item), title, body, extra };
  }

  /** Reads the records as they are now and writes them. Only the last transaction moves the place. */
  async function write(place: Place, changes: readonly Change[], progress: Pick<Place, "cursor" | "mark"> | Pick<Place, "scanned">) {
    const { partition } = place;
    const before = "cursor" in progress ? { cursor: place.cursor, mark: place.mark } : { scanned: place.scanned };
    const removed: Change[] = [];
    let changed: IndexedDocument[] = [];
    let bytes = 0;
    for (let at = 0; at < changes.length; at += readAtOnce) {
      for (const [type, keys] of groupByType(changes.slice(at, at + readAtOnce))) {
        const source = sourceOf.get(type);
        // A newer server on the same store may search more kinds of records.
        if (source === undefined) continue;
        const items = await source.read(keys);
        removed.push(...keys.filter((_, each) => items[each] === undefined).map((key) => ({ type, key })));
        const found = await Promise.all(items.filter((item) => item !== undefined).map((item) => toDocument(source, item)));
        changed.push(...found);
        bytes += found.reduce((sum, { body, extra }) => sum + sizeOf([...body, ...extra]), 0);
      }
      if (bytes < batchBytes) continue;
      documents = await index.apply({ partition, changed, removed: [], progress: before });
      changed = [];
      bytes = 0;
    }
    documents = await index.apply({ partition, changed, removed, progress });
    Object.assign(place, progress);
  }

  async function follow(partition: Partition): Promise<void> {
    const place = places.get(partition);
    if (place === undefined) return;
    const read = await storage.log.read({ partition, log: changeLog, after: place.cursor, limit: batchRecords });
    if (read.gap || read.tail < place.cursor) {
      log.info({ partition }, "the search index of a partition is behind its log and is built again");
      await begin(partition);
      return;
    }
    const last = read.entries.at(-1);
    if (last === undefined) return;
    const changes = await withDependents(read.entries.map(({ bytes }) => decodeChange(bytes)));
    await write(place, changes, { cursor: last.position, mark: toMark(last.bytes) });
    if (last.position < read.tail) awake.add(partition);
  }

  async function* scanFrom({ partition, scanned }: Place): AsyncGenerator<Change> {
    for (const { record } of sources.toSorted((one, other) => (one.record.name < other.record.name ? -1 : 1))) {
      for await (const { value } of storage.records.scan(record, partition)) {
        const change = { type: record.name, key: record.keyOf(value) };
        if (toScanned(change) > scanned) yield change;
      }
    }
  }

  /** Reads the next records of a partition that is being built. */
  async function build(place: Place): Promise<void> {
    place.scan ??= scanFrom(place);
    const changes: Change[] = [];
    let isDone = false;
    while (changes.length < batchRecords && !isDone) {
      const next = await place.scan.next();
      if (next.done === true) isDone = true;
      else changes.push(next.value);
    }
    const last = changes.at(-1);
    if (last !== undefined) await write(place, changes, { scanned: toScanned(last) });
    if (!isDone) return;
    documents = await index.finish(place.partition);
    Object.assign(place, { isBuilt: true, scanned: "" });
    if ([...places.values()].every(({ isBuilt }) => isBuilt)) log.info({ documents }, "the search index is complete");
  }

  /** Follows awake partitions first, then builds, until no work is left. */
  async function work(): Promise<void> {
    if (isDamaged) {
      isOpen = false;
      await index.remove();
      isDamaged = false;
    }
    if (!isOpen) await open();
    while (!isStopped && !isDamaged) {
      const [partition] = awake;
      const unbuilt = [...places.values()].find(({ isBuilt }) => !isBuilt);
      if (partition !== undefined) {
        awake.delete(partition);
        await follow(partition).catch((reason: unknown) => {
          awake.add(partition);
          throw reason;
        });
      } else if (unbuilt !== undefined) {
        await build(unbuilt).catch((reason: unknown) => {
          delete unbuilt.scan;
          throw reason;
        });
      } else return;
    }
  }

  function run(): void {
    if (isStopped || !isNeeded || running !== undefined) return;
    running = work()
      .then(
        () => {
          [hasFailed, damages] = [false, 0];
        },
        (reason: unknown) => {
          if (isStopped) return;
          isDamaged ||= reason instanceof UnusableIndex;
          damages += isDamaged ? 1 : 0;
          // A file is built again at once; if the new one cannot be used either, the disk needs time.
          hasFailed = damages !== 1;
          const then = isDamaged ? "it is removed and built again" : "the follower retries";
          log.warn({ err: reason }, `the search index could not be brought up to date; ${then}`);
        },
      )
      .finally(() => {
        running = undefined;
        if (hasFailed) schedule(retryMs);
        else if (awake.size > 0 || isDamaged) run();
        else if (polls) schedule(pollMs);
      });
  }

  /** After the delay, compares the ends of all logs, or continues failed work. */
  function schedule(delayMs: number): void {
    if (isStopped || cancelTimer !== undefined) return;
    cancelTimer = clock.after(delayMs, () => {
      cancelTimer = undefined;
      void (polls && !hasFailed ? findChanged() : Promise.resolve()).then(run);
    });
  }

  async function findChanged(): Promise<void> {
    const tails = await Promise.allSettled(partitions.map((partition) => storage.log.tail(partition, changeLog)));
    for (const [partition, tail] of tails.entries()) {
      if (tail.status === "rejected" || tail.value !== places.get(partition)?.cursor) awake.add(partition);
    }
  }

  function wake(): void {
    if (isNeeded) return;
    isNeeded = true;
    cancelTimer?.();
    cancelTimer = undefined;
    run();
  }

  return {
    start() {
      isStopped = false;
      // Subscribe before the first read, so that no change between the two is missed.
      unsubscribe = storage.bus.subscribe(changeLog, ([partition]) => {
        if (partition === undefined || partition >= partitionCount) return;
        awake.add(partition);
        run();
      });
      cancelTimer = clock.after(openAfterMs, wake);
    },
    wake,
    stateOf(partition) {
      if (!isOpen && hasFailed) return undefined;
      return isOpen && !isDamaged && places.get(partition)?.isBuilt === true ? "ready" : "rebuilding";
    },
    progress() {
      const builtPartitions = isOpen ? [...places.values()].filter(({ isBuilt }) => isBuilt).length : 0;
      const state = hasFailed ? "failed" : builtPartitions === partitionCount ? "ready" : "rebuilding";
      return { state, documents, builtPartitions };
    },
    rebuild() {
      isDamaged = true;
      run();
    },
    async stop() {
      isStopped = true;
      unsubscribe?.();
      cancelTimer?.();
      cancelTimer = undefined;
      await running;
    },
  };
}

/** Orders records as a scan of all sources returns them. */
function toScanned({ type, key }: Change): string {
  return `${type}/${key}`;
}

function groupByType(changes: readonly Change[]): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, Set<string>>();
  for (const { type, key } of changes) keys.set(type, (keys.get(type) ?? new Set()).add(key));
  return new Map([...keys].map(([type, found]) => [type, [...found]]));
}

function sizeOf(texts: readonly StoredText[]): number {
  return texts.reduce((sum, text) => sum + (typeof text === "string" ? text.length : text.deflated.byteLength), 0);
}
