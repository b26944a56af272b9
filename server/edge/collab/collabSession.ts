/**
 * CollabSession authenticates one collaboration socket, joins it to its room and closes it when it loses access.
 *
 * A credential in the upgrade is checked before the handshake, so that unproven sockets cannot fill the receive buffers
 * of the host. Without one, the first frame must be a credential. A refusal is always a close code, because a browser
 * does not show a refused upgrade to its page. The access lease begins before the credential is checked and is applied
 * once the socket has joined, so that no access fact is lost. The room handles all later frames.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import { errorRow } from "../../../api/schema/error.ts";
import type { Clock } from "../../../realtime/ports.ts";
import { parseFrame } from "../../../realtime/protocol.ts";
import type { Connection, Rooms } from "../../../realtime/room/rooms.ts";
import type { Principal } from "../../domain/call/call.ts";
import { toRefusal } from "../../domain/call/problem.ts";
import type {
  AccessLease,
  AccessLeases,
  LeasedResource,
  LeaseEnd,
  LeaseHolder,
  ProvenAccess,
} from "../../domain/identity/access/accessLease.ts";
import type { Socket, SocketHandlers } from "../host/port.ts";
import type { AnonymousPlace } from "./anonymousSockets.ts";
import { toCloseReason } from "./closeReason.ts";
import { leaseCloses } from "./leaseClose.ts";
import { type Presented, presentedByFrame } from "./presented.ts";
import type { SharedAccess } from "./sharedAccess.ts";
import { admitSocket, type SocketAdmissionOptions } from "./socketAdmission.ts";
import type { SocketLog } from "./socketLog.ts";
import { SocketPeer } from "./socketPeer.ts";

export interface CollabSessionOptions extends SocketAdmissionOptions {
  readonly rooms: Pick<Rooms, "connect">;
  readonly leases: Pick<AccessLeases, "take">;
  readonly sharedAccess: SharedAccess;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly socketLog: SocketLog;
}

export interface SocketRequest {
  readonly requestId: string;
  readonly articleId: string;
  /** The client requested the message types 100 and 101. */
  readonly extensions: boolean;
  /** Called for each refusal with a close code of 4400 or above: the client must change something before it reconnects. */
  readonly onRefused: () => void;
}

interface Admitted {
  readonly proven: ProvenAccess;
  readonly connection: Connection;
}

type State =
  /** `proving`, `refused` and `proven` occur before the handshake: the credential is being checked, refused or accepted. */
  | { readonly kind: "proving" }
  | { readonly kind: "refused"; readonly code: number; readonly reason: string }
  | { readonly kind: "proven"; readonly proven: ProvenAccess }
  | { readonly kind: "credential.awaited"; readonly cancel: () => void }
  /** `frames` are queued until the socket has joined its room. */
  | { readonly kind: "admitting"; readonly frames: Uint8Array[]; bytes: number }
  | { readonly kind: "admitted"; readonly connection: Connection }
  | { readonly kind: "closed" };

/** Close codes for events that have none in the error table. */
const codes = { bug: 1011, badProtocol: 4400, unauthenticated: 4401, noCredential: 4408, tooMany: 4429 };
/** Lowest close code of this service. Lower codes are standard WebSocket codes, after which a client reconnects. */
const firstOwnCode = 4400;
/** Pings and pongs that a client may send before its credential, which is due within `socket.authMs`. Clients ping about every 20 s. */
const maxControlsBeforeCredential = 10;

export class CollabSession implements SocketHandlers, LeaseHolder {
  private readonly options: CollabSessionOptions;
  private readonly requestId: string;
  private readonly article: LeasedResource;
  private readonly extensions: boolean;
  /** Undefined after the socket was admitted. */
  private onRefused: (() => void) | undefined;
  private readonly lease: AccessLease;
  private state: State = { kind: "proving" };
  private socket: Socket | undefined;
  private principal: Principal | undefined;
  private place: AnonymousPlace | undefined;
  /** Frames that arrived before the socket was admitted, without the credential. */
  private earlyFrames = 0;

  constructor(options: CollabSessionOptions, request: SocketRequest) {
    this.options = options;
    this.requestId = request.requestId;
    this.article = options.sharedAccess.articleOf(request.articleId);
    this.extensions = request.extensions;
    this.onRefused = request.onRefused;
    this.lease = options.leases.take(this.article, this);
  }

  /** The access was resolved again. */
  changed(proven: ProvenAccess): void {
    if (this.state.kind === "admitted") this.state.connection.update(this.options.sharedAccess.identityOf(proven));
  }

  /** The access was lost, or cannot be checked. */
  ended(end: LeaseEnd): void {
    if (end.reason === "review_failed") {
      this.closeFor(end.error, "the access of a collaboration socket could not be checked");
    } else {
      const { code, reason } = leaseCloses[end.reason];
      this.finish(code, reason);
    }
  }

  /** Checks the credential of the upgrade. `open` later admits or closes the socket. Never rejects. */
  async prove(presented: Presented): Promise<void> {
    try {
      const proven = await this.ask(presented);
      if (this.state.kind === "proving") this.state = { kind: "proven", proven };
    } catch (error) {
      if (this.state.kind === "proving") this.refuse(error);
    }
  }

  get isRefused(): boolean {
    return this.state.kind === "refused";
  }

  /** Requires a credential as the first frame. `place` stays taken until that credential is proven. */
  awaitCredential(place: AnonymousPlace): void {
    this.place = place;
    this.state = { kind: "credential.awaited", cancel: () => undefined };
  }

  /** Ends the session of a client that disconnected before the handshake. */
  abandon(): void {
    if (this.socket === undefined) this.close(1006);
  }

  open(socket: Socket): void {
    this.socket = socket;
    const { state } = this;
    if (state.kind === "refused") {
      this.finish(state.code, state.reason);
    } else if (state.kind === "proven") {
      this.admit(Promise.resolve(state.proven));
    } else if (state.kind === "credential.awaited") {
      const { clock, limits } = this.options;
      const tooLate = () => this.finish(codes.noCredential, "no credential arrived in time: connect with ?ticket=");
      this.state = { kind: "credential.awaited", cancel: clock.after(limits["socket.authMs"], tooLate) };
    }
  }

  message(bytes: Uint8Array): void {
    const { state } = this;
    if (state.kind === "admitted") {
      state.connection.receive(bytes);
    } else if (state.kind === "admitting") {
      state.frames.push(bytes);
      state.bytes += bytes.length;
      this.countEarly(this.options.limits["socket.earlyFrames"]);
      if (state.bytes > this.options.limits["frame.bytes"]) this.finish(codes.tooMany, "too many bytes before the socket was admitted");
    } else if (state.kind === "credential.awaited") {
      this.takeCredential(bytes);
    }
  }

  /** Counts a ping or pong, which the host has answered. */
  control(bytes: number): void {
    const { state } = this;
    if (state.kind === "admitted") state.connection.control(bytes);
    else if (state.kind === "admitting") this.countEarly(this.options.limits["socket.earlyFrames"]);
    else if (state.kind === "credential.awaited") this.countEarly(maxControlsBeforeCredential);
  }

  drain(): void {
    if (this.state.kind === "admitted") this.state.connection.drained();
  }

  /** Handles the end of the connection. A refused socket that was never sent its close code is logged as refused. */
  close(code: number): void {
    const { state } = this;
    if (state.kind === "closed") return;
    this.place?.free();
    if (state.kind === "refused") this.options.socketLog.refused(this.logFacts, state);
    else this.options.socketLog.closed(this.logFacts, { code, openMs: this.openMs });
    this.leave();
  }

  /** Closes the socket. Before the handshake the close is stored, and `open` carries it out. */
  finish(code: number, reason: string): void {
    const { socket, state } = this;
    if (state.kind === "closed") return;
    if (socket === undefined) {
      this.lease.release();
      this.state = { kind: "refused", code, reason };
      return;
    }
    if (state.kind === "admitted") this.options.socketLog.closed(this.logFacts, { code, reason, openMs: this.openMs });
    else {
      this.options.socketLog.refused(this.logFacts, { code, reason });
      if (code >= firstOwnCode) this.onRefused?.();
    }
    this.place?.freeLater();
    this.leave();
    socket.close(code, toCloseReason(reason));
  }

  private leave(): void {
    const { state } = this;
    this.state = { kind: "closed" };
    this.socket = undefined;
    this.lease.release();
    if (state.kind === "credential.awaited") state.cancel();
    if (state.kind === "admitted") state.connection.closed();
  }

  private get logFacts() {
    return { requestId: this.requestId, articleId: this.article.id, principal: this.principal };
  }

  private get openMs(): number {
    return this.state.kind === "admitted" ? this.options.clock.now() - this.state.connection.joinedAtMs : 0;
  }

  private countEarly(maxFrames: number): void {
    this.earlyFrames += 1;
    if (this.earlyFrames > maxFrames) this.finish(codes.tooMany, "too many frames before the socket was admitted");
  }

  private takeCredential(bytes: Uint8Array): void {
    const maxBytes = this.options.limits["socket.credential"];
    const frame = bytes.length > maxBytes ? undefined : parseFrame(bytes);
    if (frame?.kind === "credential") {
      if (this.state.kind === "credential.awaited") this.state.cancel();
      this.admit(this.ask(presentedByFrame(frame.text, this.options.tickets)));
    } else if (frame?.kind === "foreign") {
      this.finish(codes.badProtocol, frame.detail);
    } else {
      this.finish(codes.unauthenticated, `connect with ?ticket=, or send a credential of at most ${maxBytes} bytes as the first message`);
    }
  }

  private async ask(presented: Presented): Promise<ProvenAccess> {
    this.lease.begin();
    const proven = await admitSocket(this.options, presented, this.article.id, (principal) => {
      this.principal = principal;
    });
    this.place?.free();
    this.place = undefined;
    const shared = this.options.sharedAccess.share(proven);
    this.principal = shared.principal;
    return shared;
  }

  private admit(proving: Promise<ProvenAccess>): void {
    const state: State = { kind: "admitting", frames: [], bytes: 0 };
    this.state = state;
    const isCurrent = () => this.state === state;
    this.enter(proving, isCurrent).then(
      (admitted) => {
        if (admitted === undefined) return;
        if (!isCurrent()) {
          admitted.connection.closed();
          return;
        }
        this.state = { kind: "admitted", connection: admitted.connection };
        this.onRefused = undefined;
        this.options.socketLog.opened(this.logFacts);
        this.lease.hold(admitted.proven);
        for (const frame of state.frames) this.message(frame);
      },
      (error: unknown) => {
        if (isCurrent()) this.refuse(error);
      },
    );
  }

  /** Joins the room once the credential is proven. Returns undefined if the session has ended in the meantime. */
  private async enter(proving: Promise<ProvenAccess>, isCurrent: () => boolean): Promise<Admitted | undefined> {
    const proven = await proving;
    const { socket } = this;
    if (socket === undefined || !isCurrent()) return undefined;
    const { rooms, sharedAccess } = this.options;
    const { article, extensions } = this;
    const identity = sharedAccess.identityOf(proven);
    const connection = await rooms.connect(article.id, new SocketPeer(socket, this), identity, { extensions });
    return { proven, connection };
  }

  /** Closes the socket with the close code that belongs to the error. */
  refuse(error: unknown): void {
    this.closeFor(error, "a collaboration socket could not be admitted");
  }

  private closeFor(error: unknown, logMessage: string): void {
    const { refusal, bug } = toRefusal(error);
    const { requestId, articleId } = this.logFacts;
    if (bug) this.options.log.error({ err: error, requestId, articleId }, logMessage);
    this.finish(bug ? codes.bug : (errorRow(refusal.code).close ?? codes.badProtocol), refusal.message);
  }
}
