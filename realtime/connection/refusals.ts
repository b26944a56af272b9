/** Refusals counts the refused updates of one client and decides when its connection must be closed. */
import type { Refusal } from "../document/verdict.ts";

const maxRefusals = 3;
const denialIntervalMs = 1000;

export interface Close {
  readonly code: number;
  readonly reason: string;
}

export class Refusals {
  private count = 0;
  /** Reported at the end, because later updates often fail only as a consequence. */
  private first: Refusal | undefined;
  /** The first refusal because the document is full. */
  private full: Refusal | undefined;
  private deniedAtMs = Number.NEGATIVE_INFINITY;

  get hasRefused(): boolean {
    return this.count > 0;
  }

  /** True if a new counter would decide in the same way. */
  mayDrop(nowMs: number): boolean {
    return this.count === 0 && nowMs - this.deniedAtMs >= denialIntervalMs;
  }

  /** Counts a refusal. Returns how to close the connection if this was the last one that it may have. */
  add(refusal: Refusal): Close | undefined {
    this.count += 1;
    this.first ??= refusal;
    if (refusal.code === "content_too_large") this.full ??= refusal;
    if (this.count < maxRefusals) return undefined;
    const { code, reported } = this.full === undefined ? { code: 4400, reported: this.first } : { code: 4413, reported: this.full };
    return { code, reason: `refused ${maxRefusals} times, first: ${reported.detail}` };
  }

  /** True when a reader that sent an update may be denied now: at most once a second. */
  mayDeny(nowMs: number): boolean {
    if (nowMs - this.deniedAtMs < denialIntervalMs) return false;
    this.deniedAtMs = nowMs;
    return true;
  }
}
