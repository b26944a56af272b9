/**
 * ConnectionParts is the state of a connection that has been active lately: rates, held frames, updates, answers and
 * presence.
 *
 * Each part is created when it is needed. A connection drops its parts when new ones would behave in the same way, so a
 * connection that only listens has no parts (RT97).
 */
import type { Clock, RoomLimits } from "../ports.ts";
import { type FrameBudget, HeldFrames } from "./heldFrames.ts";
import { type ConnectionPresence, type PresenceMember, PresenceReceiver } from "./presenceReceiver.ts";
import { ReceiveRates } from "./receiveRates.ts";
import { type AnswerRoom, SyncAnswers } from "./syncAnswers.ts";
import { UpdateReceiver, type UpdateRoom, type UpdateSender } from "./updateReceiver.ts";

/** The part of the connection that its parts use. */
export interface PartsOwner extends UpdateSender, PresenceMember {
  readonly isOpen: boolean;
  /** Bytes that the client has not taken from its socket yet. */
  readonly bufferedBytes: number;
}

/** The part of the room that the parts use. */
export interface PartsRoom<Owner> extends UpdateRoom<Owner>, AnswerRoom, FrameBudget {
  readonly presence: ConnectionPresence<Owner>;
  whenSettled(run: (revision: number) => void): void;
}

export interface ConnectionPartsOptions<Owner> {
  readonly connection: Owner;
  readonly room: PartsRoom<Owner>;
  readonly clock: Clock;
  readonly limits: RoomLimits;
}

export class ConnectionParts<Owner extends PartsOwner> {
  private readonly options: ConnectionPartsOptions<Owner>;
  private ownRates: ReceiveRates | undefined;
  private ownHeld: HeldFrames | undefined;
  private ownUpdates: UpdateReceiver<Owner> | undefined;
  private ownAnswers: SyncAnswers | undefined;
  private ownPresence: PresenceReceiver<Owner> | undefined;

  constructor(options: ConnectionPartsOptions<Owner>) {
    this.options = options;
  }

  get rates(): ReceiveRates {
    this.ownRates ??= new ReceiveRates(this.options.limits, this.options.clock.now());
    return this.ownRates;
  }

  get held(): HeldFrames {
    this.ownHeld ??= new HeldFrames(this.options.room);
    return this.ownHeld;
  }

  get updates(): UpdateReceiver<Owner> {
    const { connection, room, limits } = this.options;
    this.ownUpdates ??= new UpdateReceiver<Owner>(connection, room, limits);
    return this.ownUpdates;
  }

  get answers(): SyncAnswers {
    const { connection, room, clock, limits } = this.options;
    this.ownAnswers ??= new SyncAnswers({
      room,
      clock,
      limits,
      isOpen: () => connection.isOpen,
      bufferedBytes: () => connection.bufferedBytes,
      deliver: (frame) => connection.deliver(frame),
      sendPresence: () => room.presence.subscribe(connection),
    });
    return this.ownAnswers;
  }

  get presence(): PresenceReceiver<Owner> {
    const { connection, room, clock, limits } = this.options;
    this.ownPresence ??= new PresenceReceiver<Owner>({
      member: connection,
      presence: room.presence,
      clock,
      limits,
      isOpen: () => connection.isOpen,
      close: (code, reason) => connection.close(code, reason),
    });
    return this.ownPresence;
  }

  get isHolding(): boolean {
    return this.ownHeld?.isHolding === true;
  }

  /** True if the server may not send sync step 1, because an update of the client was refused. */
  get hasRefused(): boolean {
    return this.ownUpdates?.hasRefused === true;
  }

  /** True if content that the client sent was cut out and may not be stored. */
  get isCut(): boolean {
    return this.ownUpdates?.sync.isCut === true;
  }

  /** When the server last sent sync step 1 (Unix milliseconds). */
  get resyncedAtMs(): number {
    return this.ownUpdates?.sync.resyncedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Size of the last answer until the client has taken it, in bytes. */
  get allowanceBytes(): number {
    return this.ownAnswers?.allowanceBytes ?? 0;
  }

  drained(): void {
    this.ownAnswers?.drained();
  }

  /** Must be called when the client may no longer write. */
  stopWriting(): void {
    this.ownUpdates?.stopWriting();
  }

  stop(): void {
    this.ownAnswers?.stop();
    this.ownPresence?.stop();
    this.ownHeld?.releaseAll();
  }

  /** True if new parts would behave in the same way. */
  mayDrop(nowMs: number): boolean {
    return (
      !this.isHolding &&
      (this.ownRates?.isFull(nowMs) ?? true) &&
      (this.ownUpdates?.mayDrop(nowMs) ?? true) &&
      (this.ownAnswers?.mayDrop(nowMs) ?? true) &&
      (this.ownPresence?.mayDrop(nowMs) ?? true)
    );
  }
}
