/**
 * Facts that end or change somebody's access, told to every node.
 *
 * A fact is an entry of its partition's `access` log, written by the commit that makes it true, so it cannot
 * be forgotten. Requests need none of this: they read records. It serves what stays open (sockets, streams,
 * cached pages): the bus wakes a node at once, and because a bus may lose messages every node also looks at
 * all logs twice a second. What a listener does with a fact is its own affair; a fact may come twice.
 */
import type { Logger } from "pino";
import { type LogWrite, type Partition, partitionCount, type Storage } from "../storage/port.ts";

export type AccessFact =
  | { readonly kind: "key.revoked"; readonly keyId: string }
  | { readonly kind: "session.ended"; readonly sessionId: string }
  | { readonly kind: "account.disabled"; readonly accountId: string }
  | { readonly kind: "membership.changed"; readonly workspaceId: string; readonly accountId: string }
  | { readonly kind: "article.deleted"; readonly articleId: string }
  | { readonly kind: "link.unpublished"; readonly slug: string };

const accessLog = "access";
/** A log longer than this is cut to half: a node that is further behind than that asks everything anew. */
const maxEntries = 10_000;
const readLimit = 500;
const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);

/** Goes into the commit that makes the fact true; afterwards `announce` the partition. */
export function accessFactWrite(fact: AccessFact): LogWrite {
  return { op: "append", log: accessLog, entries: [Buffer.from(JSON.stringify(fact))] };
}

export interface AccessWatch {
  /**
   * `missed` is called when facts were trimmed before this node read them: whatever is open must show its
   * access again. Returns the function that ends the subscription.
   */
  subscribe(listener: (fact: AccessFact) => void, missed?: () => void): () => void;
  /** Call after a commit that carried facts: wakes every node, this one included. */
  announce(partition: Partition): void;
  start(): void;
  /** Resolves when the first look is done: from then on no fact is missed. Await it before anything opens. */
  ready(): Promise<void>;
  stop(): void;
}

export interface AccessWatchOptions {
  readonly storage: Pick<Storage, "log" | "bus" | "commit">;
  readonly log: Logger;
  readonly pollMs?: number;
}

export function createAccessWatch({ storage, log, pollMs = 500 }: AccessWatchOptions): AccessWatch {
  const listeners = new Set<{ listener: (fact: AccessFact) => void; missed: (() => void) | undefined }>();
  /** Position read so far, by partition; absent until the first look, which starts at the tail. */
  const positions = new Map<Partition, number>();
  const reading = new Map<Partition, Promise<void>>();
  const again = new Set<Partition>();
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void) | undefined;
  let firstLook: Promise<void> | undefined;

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
    // Only the reader of an entry whose position is a multiple trims: one commit for each half of the log.
    if (read.entries.some((entry) => entry.position % (maxEntries / 2) === 0)) {
      const through = last - maxEntries / 2;
      if (through > 0) await storage.commit({ partition, logs: [{ op: "trim", log: accessLog, through }] });
    }
  }

  /** One reader for each partition; a wake-up that comes while it reads makes it look once more. */
  function look(partition: Partition): Promise<void> {
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

  async function lookAtAll(): Promise<void> {
    const all = partitions.map(look);
    const failed = (await Promise.allSettled(all)).find((outcome) => outcome.status === "rejected");
    // The next poll tries again; positions have not moved, so nothing is skipped.
    if (failed !== undefined) log.warn({ err: failed.reason }, "access logs could not be read");
  }

  return {
    subscribe(listener, missed) {
      const own = { listener, missed };
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    announce(partition) {
      storage.bus.publish(accessLog, Uint8Array.of(partition));
    },
    start() {
      if (unsubscribe !== undefined) return;
      unsubscribe = storage.bus.subscribe(accessLog, ([partition]) => {
        if (partition === undefined || partition >= partitionCount) return;
        look(partition).catch((err: unknown) => log.warn({ err, partition }, "an access log could not be read"));
      });
      const poll = async () => {
        await lookAtAll();
        if (unsubscribe !== undefined) {
          timer = setTimeout(() => void poll(), pollMs);
          timer.unref();
        }
      };
      firstLook = poll();
    },
    async ready() {
      await firstLook;
      // A store that did not answer the first look leaves partitions without a position.
      while (unsubscribe !== undefined && positions.size < partitionCount) await Promise.all(partitions.map(look));
    },
    stop() {
      unsubscribe?.();
      unsubscribe = undefined;
      clearTimeout(timer);
    },
  };
}
