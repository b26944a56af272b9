/**
 * When clients are asked what the server lacks (a server's sync-step-1): after what they wrote is durable, not
 * more often than every 250 ms each, and only while the question is small. The question carries the durable state
 * vector, so to a client that knows us it is an acknowledgement.
 */
import type { Connection } from "./connection.ts";
import type { Clock } from "./ports.ts";

const everyMs = 250;
const maxVectorBytes = 4096;

export interface AskQueueOptions {
  readonly clock: Clock;
  readonly whenSettled: (run: () => void) => void;
  readonly stateVector: () => Uint8Array;
}

export class AskQueue {
  private readonly options: AskQueueOptions;
  private readonly due = new Set<Connection>();
  /** Who claimed to have text of a client id that is another's: asked again when that other has said more, or is gone. */
  private readonly claimants = new Map<Connection, Set<Connection>>();
  private cancel: (() => void) | undefined;

  constructor(options: AskQueueOptions) {
    this.options = options;
  }

  /** It wrote something that is durable now. */
  wrote(connection: Connection): void {
    this.due.add(connection);
    this.askClaimants(connection);
  }

  /** Somebody claims to have text of `owner` that is not here: the owner is asked for it. */
  doubt(owner: Connection, claimant: Connection | undefined): void {
    this.due.add(owner);
    if (claimant !== undefined) {
      const claimants = this.claimants.get(owner) ?? new Set();
      this.claimants.set(owner, claimants.add(claimant));
    }
    this.options.whenSettled(() => this.run());
  }

  /** Only when the document is durable as it stands. */
  run(): void {
    if (this.due.size === 0) return;
    const nowMs = this.options.clock.now();
    let stateVector: Uint8Array | undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const connection of this.due) {
      const dueMs = connection.askedAtMs + everyMs;
      if (dueMs > nowMs && connection.mayBeAsked) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      this.due.delete(connection);
      if (!connection.mayBeAsked) continue;
      stateVector ??= this.options.stateVector();
      if (stateVector.length < maxVectorBytes) connection.sendQuestion(stateVector);
    }
    if (nextMs === Number.POSITIVE_INFINITY || this.cancel !== undefined) return;
    this.cancel = this.options.clock.after(nextMs - nowMs, () => {
      this.cancel = undefined;
      this.options.whenSettled(() => this.run());
    });
  }

  /** It is gone: whoever has text of its client ids may say it now. */
  forget(connection: Connection): void {
    this.due.delete(connection);
    for (const others of this.claimants.values()) others.delete(connection);
    if (this.askClaimants(connection)) this.options.whenSettled(() => this.run());
  }

  /** What they deleted of it, or built on it, could not be taken before. */
  private askClaimants(owner: Connection): boolean {
    const claimants = this.claimants.get(owner);
    if (claimants === undefined) return false;
    this.claimants.delete(owner);
    for (const claimant of claimants) this.due.add(claimant);
    return true;
  }

  stop(): void {
    this.cancel?.();
  }
}
