/** ReceiveRates limits the frames and bytes that one client may send. */
import type { RoomLimits } from "../ports.ts";
import { TokenBucket } from "../tokenBucket.ts";

export class ReceiveRates {
  private readonly frames: TokenBucket;
  private readonly bytes: TokenBucket;

  constructor(limits: RoomLimits, nowMs: number) {
    this.frames = new TokenBucket(limits["socket.frames"], nowMs);
    this.bytes = new TokenBucket(limits["socket.bytes"], nowMs);
  }

  /** Counts one frame. Returns false when the client sends more than it may. */
  take(frameBytes: number, nowMs: number): boolean {
    return this.frames.take(1, nowMs) && this.bytes.take(frameBytes, nowMs);
  }

  isFull(nowMs: number): boolean {
    return this.frames.isFull(nowMs) && this.bytes.isFull(nowMs);
  }
}
