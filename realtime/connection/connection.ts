/**
 * Connection is one client's socket in a room. It parses the client's frames and passes each to the part that handles it:
 * updates, sync answers or presence.
 *
 * Frames are handled in the order of arrival: a frame that has to wait holds back all later frames of the socket. A client
 * that reads too slowly is closed, so no frame is ever skipped.
 *
 * Durability, relaying and the document itself belong to the room.
 */
import { readPlainFrame } from "../document/plainUpdate.ts";
import type { Clock, ConnectionIdentity, Peer, RoomLimits } from "../ports.ts";
import { type ClientFrame, parseFrame, writeAck, writeSyncStep1 } from "../protocol.ts";
import type { ActiveConnections } from "./activeConnections.ts";
import { ConnectionParts, type PartsOwner, type PartsRoom } from "./connectionParts.ts";

/** The part of the room that a connection uses. */
export interface ConnectionRoom extends PartsRoom<Connection> {
  readonly presence: PartsRoom<Connection>["presence"] & { rename(member: Connection): void };
  /** Asks the client for what the server lacks. */
  resync(connection: Connection): void;
  leave(connection: Connection): void;
}

/** What all connections of a process share. */
export interface ConnectionSetting {
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly active: ActiveConnections;
  readonly onClosed: (connection: Connection) => void;
}

export interface ConnectionOptions {
  readonly room: ConnectionRoom;
  readonly peer: Peer;
  readonly identity: ConnectionIdentity;
  /** The client asked for the extension messages: acknowledgements and machine-readable refusals. */
  readonly extensions: boolean;
  readonly setting: ConnectionSetting;
}

export class Connection implements PartsOwner {
  identity: ConnectionIdentity;
  /** Credential under which this socket was counted when it connected. It stays the same when `identity` changes. */
  readonly credentialId: string;
  readonly extensions: boolean;
  readonly joinedAtMs: number;
  /** True once the client gets the presence of the others. */
  isSubscribed = false;
  hasAnswered = false;
  private readonly room: ConnectionRoom;
  private readonly peer: Peer;
  private readonly setting: ConnectionSetting;
  private ownParts: ConnectionParts<Connection> | undefined;
  private isConnected = true;

  constructor({ room, peer, identity, extensions, setting }: ConnectionOptions) {
    this.room = room;
    this.peer = peer;
    this.identity = identity;
    this.credentialId = identity.credentialId;
    this.extensions = extensions;
    this.setting = setting;
    this.joinedAtMs = setting.clock.now();
  }

  get isOpen(): boolean {
    return this.isConnected;
  }

  get bufferedBytes(): number {
    return this.peer.bufferedBytes;
  }

  /** Handles one frame from the client. The caller must not reuse `bytes`. */
  receive(bytes: Uint8Array): void {
    if (!this.isOpen) return;
    const { parts } = this;
    if (!this.count(bytes.length)) return;
    if (!parts.isHolding) {
      const plain = this.identity.mayWrite ? readPlainFrame(bytes, this.setting.limits) : undefined;
      if (plain === undefined || !this.room.submitPlain(plain, this)) this.handle(parseFrame(bytes));
    } else if (!parts.held.push(bytes)) this.close(1013, "the document cannot be written as fast");
  }

  /**
   * Counts a ping or pong of the client, whose payload has `bytes`. A client that does not read the answers to its pings is
   * closed as any slow reader is.
   */
  control(bytes: number): void {
    if (this.isOpen && this.count(bytes)) this.checkBacklog();
  }

  /** Must be called when the socket's send buffer has drained. */
  drained(): void {
    if (this.isOpen) this.ownParts?.drained();
  }

  /** Must be called when the socket is closed. */
  closed(): void {
    if (!this.isOpen) return;
    this.isConnected = false;
    this.ownParts?.stop();
    this.setting.active.delete(this);
    this.room.leave(this);
    this.setting.onClosed(this);
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
    if (couldWrite && !identity.mayWrite) this.ownParts?.stopWriting();
    if (!identity.mayWrite || couldWrite) return;
    // Updates that the client sent as a reader were denied. The resync requests them again.
    this.hasAnswered = false;
    this.room.resync(this);
  }

  /** True when the socket is open and its credential may write. */
  get isWriter(): boolean {
    return this.isOpen && this.identity.mayWrite;
  }

  /** True when the server may send sync step 1: a client whose update was refused would only send it again. */
  get mayResync(): boolean {
    return this.isWriter && this.ownParts?.hasRefused !== true;
  }

  /** When the server last sent sync step 1 (Unix milliseconds). */
  get resyncedAtMs(): number {
    return this.ownParts?.resyncedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Sends sync step 1, which requests what the server lacks. `stateVector` must contain durable state only. */
  sendSyncStep1(stateVector: Uint8Array): void {
    this.parts.updates.sync.stepSent(this.setting.clock.now());
    this.deliver(writeSyncStep1(stateVector));
  }

  /** Reports to a client with extensions that its updates are stored and that the article is at `revision`. */
  acknowledge(revision: number): void {
    if (this.extensions && this.ownParts?.isCut !== true) this.deliver(writeAck(revision));
  }

  answer(stateVector: Uint8Array): void {
    this.parts.answers.requestSync(stateVector);
  }

  retryWhenSettled(retry: () => void): void {
    const { held } = this.parts;
    held.start();
    this.room.whenSettled(() => {
      if (!this.isOpen) return;
      held.resume(retry, (bytes) => {
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

  /** Sends a frame that the client asked for. Its size is added to what the client may leave unread. */
  deliverAnswer(frame: Uint8Array): void {
    if (this.isOpen) this.parts.answers.deliver(frame);
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
    const mayBuffer = this.setting.limits["socket.buffer"] + (this.ownParts?.allowanceBytes ?? 0);
    if (this.isOpen && this.peer.bufferedBytes > mayBuffer) this.closeSlow();
  }

  /** Drops the parts if they hold nothing. Returns true if the connection has none. */
  dropParts(): boolean {
    if (this.ownParts?.mayDrop(this.setting.clock.now()) === false) return false;
    this.ownParts = undefined;
    return true;
  }

  /** Counts a frame of the client. Closes the connection and returns false if the client sends more than it may. */
  private count(bytes: number): boolean {
    if (this.parts.rates.take(bytes, this.setting.clock.now())) return true;
    this.close(4429, "too many frames or bytes");
    return false;
  }

  private closeSlow(): void {
    this.close(1013, "the client reads too slowly");
  }

  private get parts(): ConnectionParts<Connection> {
    if (this.ownParts === undefined) {
      const { clock, limits, active } = this.setting;
      this.ownParts = new ConnectionParts({ connection: this, room: this.room, clock, limits });
      active.add(this);
    }
    return this.ownParts;
  }

  private handle(frame: ClientFrame): void {
    const { parts } = this;
    switch (frame.kind) {
      case "sync.update":
        parts.updates.receive(frame.update, false, this.setting.clock.now());
        break;
      case "sync.step2":
        parts.updates.receive(frame.update, true, this.setting.clock.now());
        break;
      case "sync.step1":
        parts.presence.subscribeSoon();
        if (!parts.updates.sync.holdBack(frame.stateVector)) this.answer(frame.stateVector);
        break;
      case "awareness":
        parts.presence.receive(frame.payload);
        break;
      case "awareness.query":
        parts.answers.requestPresence();
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
