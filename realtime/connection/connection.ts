/**
 * Connection is one client's socket in a room. It parses the client's frames and passes each to the part that handles it:
 * updates, sync answers or presence.
 *
 * Frames are handled in the order of arrival: a frame that has to wait holds back all later frames of the socket. A client
 * that reads too slowly is closed, so no frame is ever skipped.
 *
 * Durability, relaying and the document itself belong to the room.
 */
import { readPlainUpdate } from "../document/plainUpdate.ts";
import type { Clock, ConnectionIdentity, Peer, RoomLimits } from "../ports.ts";
import { type ClientFrame, parseFrame, writeAck, writeSyncStep1 } from "../protocol.ts";
import { type FrameBudget, HeldFrames } from "./heldFrames.ts";
import { type ConnectionPresence, PresenceReceiver } from "./presenceReceiver.ts";
import { ReceiveRates } from "./receiveRates.ts";
import { type AnswerRoom, SyncAnswers } from "./syncAnswers.ts";
import { UpdateReceiver, type UpdateRoom, type UpdateSender } from "./updateReceiver.ts";

/** The part of the room that a connection uses. */
export interface ConnectionRoom extends UpdateRoom<Connection>, AnswerRoom, FrameBudget {
  readonly presence: ConnectionPresence<Connection> & { rename(member: Connection): void };
  whenSettled(run: (revision: number) => void): void;
  /** Asks the client for what the server lacks. */
  resync(connection: Connection): void;
  leave(connection: Connection): void;
}

export interface ConnectionOptions {
  readonly room: ConnectionRoom;
  readonly peer: Peer;
  readonly identity: ConnectionIdentity;
  /** The client asked for the extension messages: acknowledgements and machine-readable refusals. */
  readonly extensions: boolean;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly onClosed: (connection: Connection) => void;
}

export class Connection implements UpdateSender {
  identity: ConnectionIdentity;
  /** Credential under which this socket was counted when it connected. It stays the same when `identity` changes. */
  readonly credentialId: string;
  readonly extensions: boolean;
  private readonly room: ConnectionRoom;
  private readonly peer: Peer;
  private readonly clock: Clock;
  private readonly limits: RoomLimits;
  private readonly onClosed: (connection: Connection) => void;
  private readonly rates: ReceiveRates;
  private readonly held: HeldFrames;
  private readonly updates: UpdateReceiver<Connection>;
  private readonly answers: SyncAnswers;
  private readonly presence: PresenceReceiver<Connection>;
  private isOpen = true;

  constructor({ room, peer, identity, extensions, clock, limits, onClosed }: ConnectionOptions) {
    this.room = room;
    this.peer = peer;
    this.identity = identity;
    this.credentialId = identity.credentialId;
    this.extensions = extensions;
    this.clock = clock;
    this.limits = limits;
    this.onClosed = onClosed;
    const isOpen = () => this.isOpen;
    this.rates = new ReceiveRates(limits, clock.now());
    this.held = new HeldFrames(room);
    this.updates = new UpdateReceiver<Connection>(this, room, limits);
    this.answers = new SyncAnswers({
      room,
      clock,
      limits,
      isOpen,
      bufferedBytes: () => peer.bufferedBytes,
      deliver: (frame) => this.deliver(frame),
      sendPresence: () => this.presence.subscribe(),
    });
    this.presence = new PresenceReceiver<Connection>({
      member: this,
      presence: room.presence,
      clock,
      limits,
      isOpen,
      close: (code, reason) => this.close(code, reason),
    });
  }

  /** Handles one frame from the client. The caller must not reuse `bytes`. */
  receive(bytes: Uint8Array): void {
    if (!this.isOpen) return;
    if (!this.rates.take(bytes.length, this.clock.now())) this.close(4429, "too many frames or bytes");
    else if (!this.held.isHolding) {
      const plain = this.identity.mayWrite ? readPlainUpdate(bytes, this.limits) : undefined;
      if (plain === undefined || !this.room.submitPlain(plain, this)) this.handle(parseFrame(bytes));
    } else if (!this.held.push(bytes)) this.close(1013, "the document cannot be written as fast");
  }

  /** Must be called when the socket's send buffer has drained. */
  drained(): void {
    if (this.isOpen) this.answers.drained();
  }

  /** Must be called when the socket is closed. */
  closed(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.answers.stop();
    this.presence.stop();
    this.held.releaseAll();
    this.room.leave(this);
    this.onClosed(this);
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.closed();
    this.peer.close(code, reason);
  }

  /** Sets a renewed identity, for example after a change of access or name. */
  update(identity: ConnectionIdentity): void {
    const couldWrite = this.identity.mayWrite;
    this.identity = identity;
    if (!this.isOpen) return;
    this.room.presence.rename(this);
    if (!identity.mayWrite || couldWrite) return;
    // Updates that the client sent as a reader were denied. The resync requests them again.
    this.updates.sync.answerInvalid();
    this.room.resync(this);
  }

  /** True when the socket is open and its credential may write. */
  get isWriter(): boolean {
    return this.isOpen && this.identity.mayWrite;
  }

  /** True when the server may send sync step 1: a client whose update was refused would only send it again. */
  get mayResync(): boolean {
    return this.isWriter && !this.updates.hasRefused;
  }

  /** When the server last sent sync step 1 (Unix milliseconds). */
  get resyncedAtMs(): number {
    return this.updates.sync.resyncedAtMs;
  }

  /** Sends sync step 1, which requests what the server lacks. `stateVector` must contain durable state only. */
  sendSyncStep1(stateVector: Uint8Array): void {
    this.updates.sync.stepSent(this.clock.now());
    this.deliver(writeSyncStep1(stateVector));
  }

  /** Reports to a client with extensions that its updates are stored and that the article is at `revision`. */
  acknowledge(revision: number): void {
    if (this.extensions) this.deliver(writeAck(revision));
  }

  answer(stateVector: Uint8Array): void {
    this.answers.requestSync(stateVector);
  }

  retryWhenSettled(retry: () => void): void {
    this.held.start();
    this.room.whenSettled(() => {
      if (!this.isOpen) return;
      this.held.resume(retry, (bytes) => {
        if (this.isOpen) this.handle(parseFrame(bytes));
      });
    });
  }

  /** Sends a frame. No frame is ever skipped: a client that reads too slowly is closed and has to reconnect. */
  deliver(frame: Uint8Array): void {
    if (!this.isOpen) return;
    const outcome = this.peer.send(frame);
    if (outcome === "dropped") this.closeSlow();
    else if (outcome === "buffered") this.checkBacklog();
  }

  /** From now on the client gets what is published on the topic, in order with the frames of `deliver`. */
  subscribe(topic: string): void {
    this.peer.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.peer.unsubscribe(topic);
  }

  /** Closes the connection if its client reads too slowly. */
  checkBacklog(): void {
    if (this.isOpen && this.peer.bufferedBytes > this.limits["socket.buffer"] + this.answers.allowanceBytes) this.closeSlow();
  }

  private closeSlow(): void {
    this.close(1013, "the client reads too slowly");
  }

  private handle(frame: ClientFrame): void {
    switch (frame.kind) {
      case "sync.update":
        this.updates.receive(frame.update, false, this.clock.now());
        break;
      case "sync.step2":
        this.updates.receive(frame.update, true, this.clock.now());
        break;
      case "sync.step1":
        this.presence.subscribeSoon();
        if (!this.updates.sync.holdBack(frame.stateVector)) this.answer(frame.stateVector);
        break;
      case "awareness":
        this.presence.receive(frame.payload);
        break;
      case "awareness.query":
        this.answers.requestPresence();
        break;
      case "credential":
        // Some clients always send this frame. It is ignored, because the credential came with the HTTP upgrade.
        break;
      case "foreign":
      case "malformed":
        this.close(4400, frame.detail);
        break;
    }
  }
}
