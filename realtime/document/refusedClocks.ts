/**
 * RefusedClocks remembers which clocks of which client ids were refused, so that an update that builds on them is refused
 * too (RT10).
 */
import type { ClockRange } from "./inspectUpdate.ts";

/** Client ids that are remembered. Above this number the client id that was refused longest ago is forgotten. */
const maxClientIds = 1024;

export class RefusedClocks {
  private readonly ranges = new Map<number, { from: number; to: number }>();

  get isEmpty(): boolean {
    return this.ranges.size === 0;
  }

  add({ clientId, from, to }: ClockRange): void {
    const before = this.ranges.get(clientId);
    this.ranges.delete(clientId);
    this.ranges.set(clientId, { from: Math.min(from, before?.from ?? from), to: Math.max(to, before?.to ?? to) });
    if (this.ranges.size <= maxClientIds) return;
    const [oldest] = this.ranges.keys();
    if (oldest !== undefined) this.ranges.delete(oldest);
  }

  /** True when a refused range of the client id overlaps these clocks. */
  overlap({ clientId, from, to }: ClockRange): boolean {
    const range = this.ranges.get(clientId);
    return range !== undefined && range.from < to && from < range.to;
  }
}
