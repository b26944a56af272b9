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
  /** Detail of the first refusal. It is reported at the end, because later updates often fail only as a consequence. */
  private firstDetail = "";
  private isFull = false;
  private deniedAtMs = Number.NEGATIVE_INFINITY;

  get hasRefused(): boolean {
    return this.count > 0;
  }

  /** True if a new counter would decide in the same way. */
  mayDrop(nowMs: number): boolean {
    return this.count === 0 && nowMs - this.deniedAtMs >= denialIntervalMs;
  }

  /** Counts a refusal. Returns how to close the connection if this was the last one that it may have. */
  add({ code, detail }: Refusal): Close | undefined {
    this.count += 1;
    if (this.count === 1) this.firstDetail = detail;
    this.isFull ||= code === "content_too_large";
    if (this.count < maxRefusals) return undefined;
    return this.isFull
      ? { code: 4413, reason: "the document is full" }
      : { code: 4400, reason: `refused 3 times, first: ${this.firstDetail}` };
  }

  /** True when a reader that sent an update may be denied now: at most once a second. */
  mayDeny(nowMs: number): boolean {
    if (nowMs - this.deniedAtMs < denialIntervalMs) return false;
    this.deniedAtMs = nowMs;
    return true;
  }
}
