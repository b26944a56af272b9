/** TokenBucket limits a rate of one socket. It refills over time and may be overdrawn by a cost that is known only afterwards. */
import type { RoomRate } from "./ports.ts";

export class TokenBucket {
  private readonly rate: Exclude<RoomRate, "off"> | undefined;
  private tokens: number;
  private filledAtMs: number;

  constructor(rate: RoomRate, nowMs: number) {
    this.rate = rate === "off" ? undefined : rate;
    this.tokens = this.rate?.burst ?? 0;
    this.filledAtMs = nowMs;
  }

  /** Takes `cost` tokens and returns true. Returns false and takes none when there are too few. */
  take(cost: number, nowMs: number): boolean {
    if (this.rate === undefined) return true;
    this.fill(this.rate, nowMs);
    if (this.tokens < cost) return false;
    this.tokens -= cost;
    return true;
  }

  /** True when the bucket has as many tokens as a new one. */
  isFull(nowMs: number): boolean {
    return this.rate === undefined || this.waitMs(this.rate.burst, nowMs) === 0;
  }

  /** Takes `cost` tokens even if there are too few. The bucket must refill the debt before `take` succeeds again. */
  overdraw(cost: number): void {
    if (this.rate !== undefined) this.tokens -= cost;
  }

  /** Milliseconds until `cost` tokens are available; 0 when they are available now. */
  waitMs(cost: number, nowMs: number): number {
    if (this.rate === undefined) return 0;
    this.fill(this.rate, nowMs);
    if (this.tokens >= cost) return 0;
    return Math.ceil(((cost - this.tokens) * this.rate.seconds * 1000) / this.rate.count);
  }

  private fill(rate: Exclude<RoomRate, "off">, nowMs: number): void {
    const gained = ((nowMs - this.filledAtMs) * rate.count) / (rate.seconds * 1000);
    this.tokens = Math.min(rate.burst, this.tokens + Math.max(0, gained));
    this.filledAtMs = nowMs;
  }
}
