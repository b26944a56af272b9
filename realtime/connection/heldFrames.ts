/**
 * HeldFrames keeps the frames that arrived behind a frame that has to wait, so that the frames of a socket are handled in
 * the order of arrival. Their bytes count against the queue of the room.
 */

/** The part of the room that HeldFrames uses. */
export interface FrameBudget {
  /** Adds bytes that wait in a connection to the room's total. Returns false when the total exceeds `room.queue`. */
  hold(bytes: number): boolean;
  release(bytes: number): void;
}

export class HeldFrames {
  private readonly budget: FrameBudget;
  /** Undefined when no frame waits. */
  private frames: Uint8Array[] | undefined;

  constructor(budget: FrameBudget) {
    this.budget = budget;
  }

  get isHolding(): boolean {
    return this.frames !== undefined;
  }

  start(): void {
    this.frames ??= [];
  }

  /** Holds a frame. Returns false when the room holds too many bytes. */
  push(frame: Uint8Array): boolean {
    this.frames?.push(frame);
    return this.budget.hold(frame.length);
  }

  /** Runs `retry` for the frame that waited, then passes on the held frames until one of them has to wait. */
  resume(retry: () => void, handle: (frame: Uint8Array) => void): void {
    const frames = this.frames ?? [];
    this.frames = undefined;
    retry();
    for (const [at, frame] of frames.entries()) {
      if (this.isHolding) {
        this.frames = frames.slice(at);
        return;
      }
      this.budget.release(frame.length);
      handle(frame);
    }
  }

  /** Gives the bytes of all held frames back to the room, because the connection is closed. */
  releaseAll(): void {
    for (const frame of this.frames ?? []) this.budget.release(frame.length);
  }
}
