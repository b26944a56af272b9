/**
 * This module publishes facts that end or change access, such as a revoked key, to every node.
 *
 * A fact is an entry in the `access` log of its partition, written by the commit that makes it true, so it cannot be
 * lost. Requests do not need facts because they read the records. Facts are for resources that stay open (sockets,
 * streams, cached pages). The bus wakes every node at once. The bus may lose messages, so every node also polls all
 * logs twice a second, unless no other process writes the store. Listeners must accept a fact that is delivered twice.
 */
import type { Logger } from "pino";
import { type LogWrite, type Partition, partitionCount, type Storage } from "../../../platform/storage/port.ts";

export type AccessFact =
  | { readonly kind: "key.revoked"; readonly keyId: string }
  | { readonly kind: "session.ended"; readonly sessionId: string }
  | { readonly kind: "account.disabled"; readonly accountId: string }
  /** Open sockets show the display name. Absent when the name was cleared. */
  | { readonly kind: "account.renamed"; readonly accountId: string; readonly displayName?: string | undefined }
  | { readonly kind: "membership.changed"; readonly workspaceId: string; readonly accountId: string }
  | { readonly kind: "article.deleted"; readonly articleId: string }
  | { readonly kind: "link.unpublished"; readonly slug: string };

const accessLog = "access";
/**
 * A longer log is trimmed to half of this. A node that is further behind must check the access of all open resources
 * again.
 */
const maxEntries = 10_000;
const readLimit = 500;
const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);

/** Returns the log entry for the commit that makes the fact true. The store must be one of `announceAccessFacts`. */
export function accessFactWrite(fact: AccessFact): LogWrite {
  return { op: "append", log: accessLog, entries: [Buffer.from(JSON.stringify(fact))] };
}

export interface AccessWatch {
  /**
   * Subscribes to facts. `missed` is called when facts were trimmed before this node read them: the access of every
   * open resource must then be checked again. Returns the function that ends the subscription.
   */
  subscribe(listener: (fact: AccessFact) => void, missed?: () => void): () => void;
  start(): void;
  /** Resolves when the first read is done. From then on no fact is missed. Await it before any socket or stream opens. */
  ready(): Promise<void>;
  stop(): void;
}

export interface AccessWatchOptions {
  readonly storage: Pick<Storage, "log" | "bus" | "commit">;
  readonly log: Logger;
  readonly pollMs?: number;
  /** Default true. Set it to false only if `announceAccessFacts` sees every commit of the store. */
  readonly polls?: boolean;
}

/**
 * Returns the same store with a `commit` that wakes the watch of every node, including this one, when the batch has facts.
 * No caller of `commit` has to announce its facts.
 */
export function announceAccessFacts(storage: Storage): Storage {
  return {
    ...storage,
    commit(batch) {
      const committing = storage.commit(batch);
      if (batch.logs?.some(({ log }) => log === accessLog) !== true) return committing;
      return committing.then((result) => {
        if (result.ok) storage.bus.publish(accessLog, Uint8Array.of(batch.partition));
        return result;
      });
    },
  };
}

export function createAccessWatch({ storage, log, pollMs = 500, polls = true }: AccessWatchOptions): AccessWatch {
  const listeners = new Set<{ listener: (fact: AccessFact) => void; missed: (() => void) | undefined }>();
  /** Last position read, by partition. Absent until the first read, which starts at the tail. */
  const positions = new Map<Partition, number>();
  const reading = new Map<Partition, Promise<void>>();
  const again = new Set<Partition>();
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void) | undefined;
  let firstRead: Promise<void> | undefined;

  async function readNew(partition: Partition): Promise<void> {
    const after = positions.get(partition);
    if (after === undefined) {
      positions.set(partition, await storage.log.tail(partition, accessLog));
      return;
    }
    const read = await storage.log.read({ partition, log: accessLog, after, limit: readLimit });
    if (read.gap) {
      positions.set(partition, read.tail);
      for (const { missed } of listeners) missed?.();
      return;
    }
    for (const entry of read.entries) {
      const fact = JSON.parse(Buffer.from(entry.bytes).toString()) as AccessFact;
      for (const { listener } of listeners) listener(fact);
      positions.set(partition, entry.position);
    }
    const last = read.entries.at(-1)?.position ?? after;
    if (last < read.tail) again.add(partition);
    // Only the node that reads an entry at a multiple of half the maximum trims. This gives one trim for each half of the
    // log.
    if (read.entries.some((entry) => entry.position % (maxEntries / 2) === 0)) {
      const through = last - maxEntries / 2;
      if (through > 0) await storage.commit({ partition, logs: [{ op: "trim", log: accessLog, through }] });
    }
  }

  /** Reads the log of a partition with one reader at a time. A wake-up during a read causes one more read. */
  function readPartition(partition: Partition): Promise<void> {
    const running = reading.get(partition);
    if (running !== undefined) {
      again.add(partition);
      return running;
    }
    const run = (async () => {
      do {
        again.delete(partition);
        await readNew(partition);
      } while (again.has(partition));
    })().finally(() => reading.delete(partition));
    reading.set(partition, run);
    return run;
  }

  async function readAll(): Promise<void> {
    const all = partitions.map(readPartition);
    const failed = (await Promise.allSettled(all)).find((outcome) => outcome.status === "rejected");
    // The next poll retries. The positions have not moved, so no entry is skipped.
    if (failed !== undefined) log.warn({ err: failed.reason }, "access logs could not be read; the next poll retries");
    if (failed !== undefined || polls) schedulePoll();
  }

  function schedulePoll(): void {
    if (unsubscribe === undefined || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void readAll();
    }, pollMs);
    timer.unref();
  }

  return {
    subscribe(listener, missed) {
      const own = { listener, missed };
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    start() {
      if (unsubscribe !== undefined) return;
      unsubscribe = storage.bus.subscribe(accessLog, ([partition]) => {
        if (partition === undefined || partition >= partitionCount) return;
        readPartition(partition).catch((err: unknown) => {
          log.warn({ err, partition }, "an access log could not be read; the next poll retries");
          schedulePoll();
        });
      });
      firstRead = readAll();
    },
    async ready() {
      await firstRead;
      // A partition has no position if the store did not answer its first read.
      while (unsubscribe !== undefined && positions.size < partitionCount) await Promise.all(partitions.map(readPartition));
    },
    stop() {
      unsubscribe?.();
      unsubscribe = undefined;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
