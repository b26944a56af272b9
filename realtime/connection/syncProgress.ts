/**
 * SyncProgress knows which sync steps are unanswered between the server and one client.
 *
 * A client that has not answered the server's first sync step 1 may have offline work that the server lacks. An update that
 * builds on it can be deferred: the client repeats it in its sync step 2. Content under a client id of another author's
 * socket can be cut out of an update: the owner is asked for it, and afterwards the client again. Until then no sync step 1
 * of the client is answered, because the answer would acknowledge what is not stored (RT42, RT116).
 */
/**
 * Above the longest interval between two sync step 1 messages to one client (5 s, `resyncScheduler.ts`): after it, the time of
 * the last one no longer matters.
 */
const stepMemoryMs = 6000;

export class SyncProgress {
  /** When the server last sent sync step 1 (Unix milliseconds). */
  resyncedAtMs = Number.NEGATIVE_INFINITY;
  /** Number of sync step 1 messages that the client has not answered. */
  private unanswered = 0;
  private hasDeferred = false;
  private hasCut = false;
  /** State vector of the newest sync step 1 that the client sent while an update was deferred or cut. */
  private heldStateVector: Uint8Array | undefined;

  /** True when an update is deferred and the client was not asked for it. */
  get isStuck(): boolean {
    return this.hasDeferred && this.unanswered === 0;
  }

  stepSent(nowMs: number): void {
    this.resyncedAtMs = nowMs;
    this.unanswered += 1;
  }

  /** Counts a sync step 2 of the client. Returns true if it answers a sync step 1 of the server. */
  countAnswer(): boolean {
    if (this.unanswered === 0) return false;
    this.unanswered -= 1;
    return true;
  }

  defer(): void {
    this.hasDeferred = true;
  }

  /** True from the update of which content was cut out until a sync step 2 of the client is stored whole. */
  get isCut(): boolean {
    return this.hasCut;
  }

  /** Notes that content was cut out of an update of the client. */
  cut(): void {
    this.hasCut = true;
  }

  /** True while no sync step 1 of the client may be answered. */
  get mustWait(): boolean {
    return this.hasDeferred || this.hasCut;
  }

  /** True while it may not be answered and the client was not asked for anything whose answer would change that. */
  get waitsForQuestion(): boolean {
    return this.mustWait && this.unanswered === 0;
  }

  /** Keeps the state vector of the client's sync step 1 if it must not be answered yet. Returns true in that case. */
  holdBack(stateVector: Uint8Array): boolean {
    if (this.mustWait) this.heldStateVector = stateVector;
    return this.mustWait;
  }

  /**
   * Notes that an answer was handled. `isCut`: content was cut out of it. Returns the state vector of a sync step 1 that was
   * held back and can be answered.
   */
  answerHandled(isCut: boolean): Uint8Array | undefined {
    this.hasDeferred = false;
    this.hasCut = isCut;
    if (isCut) return undefined;
    const { heldStateVector } = this;
    this.heldStateVector = undefined;
    return heldStateVector;
  }

  /** True if nothing is unanswered, and the last sync step 1 was long ago. */
  mayDrop(nowMs: number): boolean {
    return this.unanswered === 0 && !this.mustWait && nowMs - this.resyncedAtMs >= stepMemoryMs;
  }
}
