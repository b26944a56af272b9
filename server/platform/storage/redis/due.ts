/**
 * This module implements the due queue and the named leases of the Redis store.
 *
 * All times are store times computed by this process; Redis only compares and stores them.
 */
import { fromByteText } from "../orderedKey.ts";
import { type ClaimedRow, type Json, type Partition, partitionCount, type Storage } from "../port.ts";
import type { Calls } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { redisKeys, toArgument, toDueId } from "./keys.ts";
import { redisScripts } from "./scripts.ts";

/** Lease entries are deleted this long after their lease ended. A commit or renewal under a deleted lease is still refused. */
const endedLeaseMs = 24 * 3_600_000;
const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);

function toRow(partition: Partition, id: Reply | undefined, text: Reply | undefined, fence?: Reply): ClaimedRow {
  const [kept = "", attempts = "", dueAtMs = "", kind = "", payload = ""] = (text as Buffer).toString().split("\n");
  return {
    partition,
    id: fromByteText((id as Buffer).toString("latin1")),
    kind: JSON.parse(kind) as string,
    dueAtMs: Number(dueAtMs),
    payload: JSON.parse(payload) as Json,
    attempts: Number(attempts),
    fence: Number(fence ?? kept),
  };
}

export function createRedisDue(calls: Calls, now: () => number): Storage["due"] {
  const keysOf = (partition: Partition) => [redisKeys.due(partition), redisKeys.dueOrder(partition)];

  /** Due times of the rows that are due now, oldest first, at most `limit` rows of the partition. */
  async function readDueTimes(
    partition: Partition,
    nowMs: number,
    limit: number,
  ): Promise<readonly { partition: Partition; dueAtMs: number }[]> {
    const range = ["-inf", String(nowMs), "BYSCORE", "LIMIT", "0", String(limit), "WITHSCORES"];
    const pairs = (await calls.read(partition, ["ZRANGE", redisKeys.dueOrder(partition), ...range])) as readonly (readonly Reply[])[];
    return pairs.map(([, score]) => ({ partition, dueAtMs: Number(score) }));
  }

  /** Infinity without rows. */
  async function readFirstDueTime(partition: Partition): Promise<number> {
    const first = await calls.read(partition, ["ZRANGE", redisKeys.dueOrder(partition), "0", "0", "WITHSCORES"]);
    const [pair] = first as readonly (readonly Reply[])[];
    return pair === undefined ? Number.POSITIVE_INFINITY : Number(pair[1]);
  }

  async function nextDueAtMs(): Promise<number | undefined> {
    const earliest = Math.min(...(await Promise.all(partitions.map(readFirstDueTime))));
    return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
  }

  return {
    async claim({ partitions: asked, limit, leaseMs }) {
      const nowMs = now();
      const found = (await Promise.all(asked.map((partition) => readDueTimes(partition, nowMs, limit)))).flat();
      const shares = new Map<Partition, number>();
      for (const { partition } of found.sort((one, other) => one.dueAtMs - other.dueAtMs).slice(0, limit)) {
        shares.set(partition, (shares.get(partition) ?? 0) + 1);
      }
      // The script claims a number of rows, not given ids. If another worker has claimed some of the rows meanwhile,
      // the next due rows are claimed instead.
      const claimed = await Promise.all(
        [...shares].map(async ([partition, count]) => {
          const args = [String(nowMs), String(count), String(nowMs + leaseMs)];
          const replies = await calls.run({ partition, script: redisScripts.claim, keys: keysOf(partition), args, replicated: true });
          const rows: ClaimedRow[] = [];
          const list = replies as readonly Reply[];
          for (let at = 0; at < list.length; at += 3) rows.push(toRow(partition, list[at], list[at + 1], list[at + 2] as Reply));
          return rows;
        }),
      );
      return claimed.flat().sort((one, other) => one.dueAtMs - other.dueAtMs);
    },
    async renew({ partition, id, fence }, leaseMs) {
      const args = [toArgument(toDueId(partition, id)), String(fence), String(now() + leaseMs)];
      const script = redisScripts.renewDue;
      return (await calls.run({ partition, script, keys: keysOf(partition), args, repeatable: true, replicated: true })) === 1;
    },
    async get(partition, id) {
      const field = toArgument(toDueId(partition, id));
      const text = await calls.read(partition, ["HGET", redisKeys.due(partition), field]);
      return text === null ? undefined : { ...toRow(partition, Buffer.from(""), text), id };
    },
    nextDueAtMs,
    async stats() {
      const counts = Promise.all(partitions.map((partition) => calls.read(partition, ["ZCARD", redisKeys.dueOrder(partition)])));
      const [counted, oldestDueAtMs] = await Promise.all([counts, nextDueAtMs()]);
      const rows = counted.reduce<number>((sum, count) => sum + Number(count), 0);
      return rows === 0 || oldestDueAtMs === undefined ? { rows } : { rows, oldestDueAtMs };
    },
  };
}

export function createRedisLeases(calls: Calls, now: () => number): Storage["leases"] {
  const keysOf = (partition: Partition) => [redisKeys.leases(partition), redisKeys.leaseEnds(partition)];
  return {
    async acquire(partition, name, owner, leaseMs) {
      const nowMs = now();
      const keys = [...keysOf(partition), redisKeys.meta(partition)];
      const args = [name, String(nowMs), String(nowMs + leaseMs), String(nowMs - endedLeaseMs)];
      const fence = Number(await calls.run({ partition, script: redisScripts.acquireLease, keys, args, replicated: true }));
      return fence === 0 ? undefined : { partition, name, owner, fence };
    },
    async renew({ partition, name, fence }, leaseMs) {
      const nowMs = now();
      const args = [name, String(fence), String(nowMs), String(nowMs + leaseMs)];
      const script = redisScripts.renewLease;
      return (await calls.run({ partition, script, keys: keysOf(partition), args, repeatable: true, replicated: true })) === 1;
    },
    async release({ partition, name, fence }) {
      const script = redisScripts.releaseLease;
      await calls.run({ partition, script, keys: keysOf(partition), args: [name, String(fence)], repeatable: true });
    },
  };
}
