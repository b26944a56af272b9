/**
 * ResyncScheduler decides when the server sends sync step 1 to a client, which requests what the server lacks.
 *
 * The message is sent after the client's updates are durable, at most every 250 ms for each client, and only while the
 * state vector is smaller than 4096 bytes. It carries the durable state vector, so a client made for this server can read
 * it as an acknowledgement.
 */
import type { Connection } from "../connection/connection.ts";
import type { Clock } from "../ports.ts";

const everyMs = 250;
const maxVectorBytes = 4096;
const otherNodeMs = 5000;

export interface ResyncSchedulerOptions {
  readonly clock: Clock;
  readonly whenSettled: (run: () => void) => void;
  readonly stateVector: () => Uint8Array;
}

export class ResyncScheduler {
  private readonly options: ResyncSchedulerOptions;
  private readonly due = new Set<Connection>();
  /**
   * For each owner of client ids, the connections that sent content under those ids. A claimant gets a resync when the owner
   * has written more or has left.
   */
  private readonly claimants = new Map<Connection, Set<Connection>>();
  /** Connections that sent content of client ids whose owners are on other nodes, before this node had that content. */
  private readonly awaitingNodes = new Set<Connection>();
  private cancel: (() => void) | undefined;
  private cancelAwaiting: (() => void) | undefined;

  constructor(options: ResyncSchedulerOptions) {
    this.options = options;
  }

  /** Notes that an update of this connection has become durable. */
  noteWrite(connection: Connection): void {
    this.due.add(connection);
    this.resyncClaimants(connection);
  }

  /** Requests a resync of `owner`, because `claimant` sent content of the owner's client ids that the server lacks. */
  requestResync(owner: Connection, claimant: Connection | undefined): void {
    this.due.add(owner);
    if (claimant !== undefined) {
      const claimants = this.claimants.get(owner) ?? new Set();
      this.claimants.set(owner, claimants.add(claimant));
    }
    this.options.whenSettled(() => this.run());
  }

  /**
   * Requests a resync of `claimant` when this node next reads what other nodes appended, or after 5 s: the owner may have
   * left its node without sending the content.
   */
  awaitOtherNodes(claimant: Connection): void {
    this.awaitingNodes.add(claimant);
    this.cancelAwaiting ??= this.options.clock.after(otherNodeMs, () => {
      this.options.whenSettled(() => this.noteCaughtUp());
    });
  }

  /** Notes that this node has read the batches of other nodes. */
  noteCaughtUp(): void {
    if (this.awaitingNodes.size === 0) return;
    this.cancelAwaiting?.();
    this.cancelAwaiting = undefined;
    for (const claimant of this.awaitingNodes) this.due.add(claimant);
    this.awaitingNodes.clear();
    this.options.whenSettled(() => this.run());
  }

  /** Sends all due sync step 1 messages. Call it only when the document shows durable content only. */
  run(): void {
    if (this.due.size === 0) return;
    const nowMs = this.options.clock.now();
    let stateVector: Uint8Array | undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const connection of this.due) {
      const dueMs = connection.resyncedAtMs + everyMs;
      if (dueMs > nowMs && connection.mayResync) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      this.due.delete(connection);
      if (!connection.mayResync) continue;
      stateVector ??= this.options.stateVector();
      if (stateVector.length < maxVectorBytes) connection.sendSyncStep1(stateVector);
    }
    if (nextMs === Number.POSITIVE_INFINITY || this.cancel !== undefined) return;
    this.cancel = this.options.clock.after(nextMs - nowMs, () => {
      this.cancel = undefined;
      this.options.whenSettled(() => this.run());
    });
  }

  /** Removes a connection that has left. Claimants of its client ids get a resync, because they may now supply the content. */
  forget(connection: Connection): void {
    this.due.delete(connection);
    this.awaitingNodes.delete(connection);
    for (const others of this.claimants.values()) others.delete(connection);
    if (this.resyncClaimants(connection)) this.options.whenSettled(() => this.run());
  }

  /** Makes the claimants of `owner` due: deletions of, or additions to, the owner's content could not be accepted before. */
  private resyncClaimants(owner: Connection): boolean {
    const claimants = this.claimants.get(owner);
    if (claimants === undefined) return false;
    this.claimants.delete(owner);
    for (const claimant of claimants) this.due.add(claimant);
    return true;
  }

  stop(): void {
    this.cancel?.();
    this.cancelAwaiting?.();
  }
}
