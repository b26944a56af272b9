/**
 * This module holds the named leases of a store that only one process uses. They live in memory: when the process ends, no
 * holder is left, so every lease is free at the next start.
 *
 * Fences must keep rising across restarts because records store them. `firstFence` is therefore computed from a counter
 * of starts, with room for 2^32 acquisitions per start.
 */
import type { Lease, Partition } from "./port.ts";

interface Held {
  readonly owner: string;
  fence: number;
  untilMs: number;
}

export interface Leases {
  acquire(partition: Partition, name: string, owner: string, leaseMs: number): Lease | undefined;
  renew(lease: Lease, leaseMs: number): boolean;
  release(lease: Lease): void;
  fence(partition: Partition, name: string): number | undefined;
}

export function toFirstFence(start: number): number {
  return start * 2 ** 32;
}

export function createLeases(now: () => number, firstFence = 0): Leases {
  const held = new Map<string, Held>();
  let latestFence = firstFence;
  const keyOf = (partition: Partition, name: string) => `${partition}/${name}`;
  const current = (lease: Lease) => {
    const found = held.get(keyOf(lease.partition, lease.name));
    return found?.fence === lease.fence && found.untilMs > now() ? found : undefined;
  };
  return {
    acquire(partition, name, owner, leaseMs) {
      const key = keyOf(partition, name);
      const found = held.get(key);
      if (found !== undefined && found.untilMs > now()) return undefined;
      latestFence += 1;
      held.set(key, { owner, fence: latestFence, untilMs: now() + leaseMs });
      return { partition, name, owner, fence: latestFence };
    },
    renew(lease, leaseMs) {
      const found = current(lease);
      if (found === undefined) return false;
      found.untilMs = now() + leaseMs;
      return true;
    },
    release(lease) {
      if (current(lease) !== undefined) held.delete(keyOf(lease.partition, lease.name));
    },
    fence: (partition, name) => held.get(keyOf(partition, name))?.fence,
  };
}
