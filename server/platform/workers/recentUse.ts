/**
 * RecentUse counts how much time each owner has used recently, so that a queue can prefer owners who used less.
 *
 * The counted time halves after every half-life. Tasks of owners with heavy use therefore wait behind tasks of owners
 * with light use, and a heavy owner loses this disadvantage within minutes.
 */
export interface RecentUse {
  add(owner: string, usedMs: number): void;
  /** Recently used milliseconds; 0 for an owner without recent use. */
  of(owner: string): number;
}

const halfLifeMs = 30_000;
/** Entries below this value are removed. */
const leastMs = 1;

export function createRecentUse(now: () => number = () => performance.now()): RecentUse {
  /** Ordered by last use, so that the entries to remove come first. */
  const uses = new Map<string, { readonly usedMs: number; readonly atMs: number }>();

  function of(owner: string): number {
    const use = uses.get(owner);
    return use === undefined ? 0 : use.usedMs * 2 ** ((use.atMs - now()) / halfLifeMs);
  }

  return {
    of,
    add(owner, usedMs) {
      const use = { usedMs: of(owner) + usedMs, atMs: now() };
      uses.delete(owner);
      uses.set(owner, use);
      for (const oldest of uses.keys()) {
        if (of(oldest) >= leastMs) break;
        uses.delete(oldest);
      }
    },
  };
}
