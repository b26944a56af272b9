/**
 * ResyncScheduler decides when the server sends sync step 1 to a member, which requests what the server lacks.
 *
 * A member is asked after its updates are durable: at most every 5 s while it writes, and at most every 250 ms if the server
 * lacks content that the member may have (RT70). The message carries the durable state vector, so a client made for this
 * server can read it as an acknowledgement. While the state vector has 4096 bytes or more, it is sent only in the second case.
 */
import type { Clock } from "../ports.ts";

/** Each question costs two frames, and the answer is usually empty. Questions without a cause are therefore rare (RT15). */
const questionIntervalMs = 5000;
const missingContentIntervalMs = 250;
/** Above this size, in bytes, sync step 1 serves only to get missing content, not to acknowledge. */
const maxRoutineVectorBytes = 4096;
const otherNodeMs = 5000;

/** The part of a member that the scheduler uses. */
export interface ResyncTarget {
  readonly mayResync: boolean;
  /** When the server last sent sync step 1 (Unix milliseconds). */
  readonly resyncedAtMs: number;
  sendSyncStep1(stateVector: Uint8Array): void;
}

export interface ResyncSchedulerOptions {
  readonly clock: Clock;
  readonly whenSettled: (run: () => void) => void;
  readonly stateVector: () => Uint8Array;
}

export class ResyncScheduler<Member extends ResyncTarget> {
  private readonly options: ResyncSchedulerOptions;
  /** Members to ask. The value is true when the server lacks content that the member may have. */
  private readonly due = new Map<Member, boolean>();
  /**
   * For each owner of client ids, the members that sent content under those ids. Such a claimant gets a resync when the
   * owner has written more or has left.
   */
  private readonly claimants = new Map<Member, Set<Member>>();
  /** Members that sent content of client ids whose owners are on other nodes, before this node had that content. */
  private readonly awaitingNodes = new Set<Member>();
  /** No member in `due` is to be asked before this time (Unix milliseconds). */
  private nextDueMs = Number.POSITIVE_INFINITY;
  /** When `run` is called next (Unix milliseconds). Infinity when it is not scheduled. */
  private wakesAtMs = Number.POSITIVE_INFINITY;
  private cancel: (() => void) | undefined;
  private cancelAwaiting: (() => void) | undefined;

  constructor(options: ResyncSchedulerOptions) {
    this.options = options;
  }

  /** True when no member has to be asked later. */
  get isIdle(): boolean {
    return this.due.size === 0 && this.claimants.size === 0 && this.awaitingNodes.size === 0;
  }

  /** Notes that an update of this member has become durable. `lacksContent`: it builds on content that may be missing. */
  noteWrite(member: Member, lacksContent: boolean): void {
    this.add(member, lacksContent);
    this.addClaimantsOf(member);
  }

  /** Requests a resync of `owner`, because `claimant` sent content of the owner's client ids that the server lacks. */
  requestResync(owner: Member, claimant: Member | undefined): void {
    this.add(owner, true);
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
  awaitOtherNodes(claimant: Member): void {
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
    for (const claimant of this.awaitingNodes) this.add(claimant, true);
    this.awaitingNodes.clear();
    this.options.whenSettled(() => this.run());
  }

  /** Sends all due sync step 1 messages. Call it only when the document shows durable content only. */
  run(): void {
    if (this.due.size === 0) return;
    const nowMs = this.options.clock.now();
    if (nowMs < this.nextDueMs) {
      this.wakeAt(this.nextDueMs, nowMs);
      return;
    }
    let stateVector: Uint8Array | undefined;
    this.nextDueMs = Number.POSITIVE_INFINITY;
    for (const [member, lacksContent] of this.due) {
      const dueMs = dueMsOf(member, lacksContent);
      if (dueMs > nowMs && member.mayResync) {
        this.nextDueMs = Math.min(this.nextDueMs, dueMs);
        continue;
      }
      this.due.delete(member);
      if (!member.mayResync) continue;
      stateVector ??= this.options.stateVector();
      if (lacksContent || stateVector.length < maxRoutineVectorBytes) member.sendSyncStep1(stateVector);
    }
    this.wakeAt(this.nextDueMs, nowMs);
  }

  /** Removes a member that has left. Claimants of its client ids get a resync, because they may now supply the content. */
  forget(member: Member): void {
    this.due.delete(member);
    this.awaitingNodes.delete(member);
    for (const [owner, claimants] of this.claimants) if (claimants.delete(member) && claimants.size === 0) this.claimants.delete(owner);
    if (this.addClaimantsOf(member)) this.options.whenSettled(() => this.run());
  }

  stop(): void {
    this.cancel?.();
    this.cancelAwaiting?.();
  }

  private wakeAt(atMs: number, nowMs: number): void {
    if (atMs >= this.wakesAtMs) return;
    this.cancel?.();
    this.wakesAtMs = atMs;
    this.cancel = this.options.clock.after(atMs - nowMs, () => {
      this.wakesAtMs = Number.POSITIVE_INFINITY;
      this.options.whenSettled(() => this.run());
    });
  }

  private add(member: Member, lacksContent: boolean): void {
    const before = this.due.get(member);
    if (before === true || before === lacksContent) return;
    this.due.set(member, lacksContent);
    this.nextDueMs = Math.min(this.nextDueMs, dueMsOf(member, lacksContent));
  }

  /** Makes the claimants of `owner` due: deletions of, or additions to, the owner's content could not be accepted before. */
  private addClaimantsOf(owner: Member): boolean {
    const claimants = this.claimants.get(owner);
    if (claimants === undefined) return false;
    this.claimants.delete(owner);
    for (const claimant of claimants) this.add(claimant, true);
    return true;
  }
}

function dueMsOf({ resyncedAtMs }: ResyncTarget, lacksContent: boolean): number {
  return resyncedAtMs + (lacksContent ? missingContentIntervalMs : questionIntervalMs);
}
