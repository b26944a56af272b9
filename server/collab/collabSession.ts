/**
 * One collaboration socket on its way into a room: credential, rate, scope, access, then frames.
 *
 * The upgrade is always accepted and a refusal comes as a close code: a browser shows its page nothing of a
 * refused upgrade. Facts about access that come while the socket is still being admitted are kept and held
 * against it afterwards, so none can fall between the look and the admission. Frames are the room's affair.
 */
import type { Logger } from "pino";
import type { Limits } from "../../api/limits.ts";
import { AppError, errorRow } from "../../api/schema/error.ts";
import { missingScopes, type Scope } from "../../api/scopes.ts";
import type { Clock, ConnectionIdentity } from "../../realtime/ports.ts";
import { parseFrame } from "../../realtime/protocol.ts";
import type { Connection, Rooms } from "../../realtime/rooms.ts";
import type { AccessFact } from "../auth/accessFacts.ts";
import type { Access, Principal } from "../calls/call.ts";
import type { AccessResolver, Authenticator } from "../calls/ports.ts";
import { toRefusal } from "../calls/problem.ts";
import type { RateLimits } from "../calls/rateLimits.ts";
import { toCredentialId } from "../calls/wrapper.ts";
import type { Socket, SocketHandlers } from "../host/port.ts";
import type { Tickets } from "./ports.ts";
import { type Presented, presentedByFrame } from "./presented.ts";

export interface CollabSessionOptions {
  readonly rooms: Pick<Rooms, "connect">;
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
  readonly access: AccessResolver;
  readonly rateLimits: RateLimits;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Admitted {
  readonly principal: Principal;
  readonly access: Access;
  readonly connection: Connection;
}

type State =
  | { readonly kind: "credential.awaited"; readonly cancel: () => void }
  /** Frames and facts that came meanwhile. */
  | { readonly kind: "admitting"; readonly frames: Uint8Array[]; bytes: number; readonly facts: AccessFact[] }
  | ({ readonly kind: "admitted" } & Admitted)
  | { readonly kind: "closed" };

/** A bug or a refusal that has no close code of its own. */
const codes = { bug: 1011, badProtocol: 4400, unauthenticated: 4401, accessLost: 4403, noCredential: 4408, deleted: 4409, revoked: 4410 };
/** Timers of Node hold no more than 2^31 ms. */
const longestTimerMs = 24 * 60 * 60 * 1000;
const maxReasonBytes = 123;

export class CollabSession implements SocketHandlers {
  private readonly options: CollabSessionOptions;
  private readonly articleId: string;
  private readonly extensions: boolean;
  private readonly presented: Presented | AppError | undefined;
  /** The open sockets, this one among them from `open` to the end. */
  private readonly sessions: Set<CollabSession>;
  private state: State = { kind: "closed" };
  private socket: Socket | undefined;
  private cancelExpiry: (() => void) | undefined;
  private reviews = 0;

  constructor(
    options: CollabSessionOptions,
    request: { readonly articleId: string; readonly extensions: boolean; readonly presented: Presented | AppError | undefined },
    sessions: Set<CollabSession>,
  ) {
    this.options = options;
    this.articleId = request.articleId;
    this.extensions = request.extensions;
    this.presented = request.presented;
    this.sessions = sessions;
  }

  open(socket: Socket): void {
    this.socket = socket;
    this.sessions.add(this);
    const { presented } = this;
    if (presented instanceof AppError) {
      this.finish(errorRow(presented.code).close ?? codes.badProtocol, presented.message);
    } else if (presented !== undefined) {
      this.admit(presented);
    } else {
      const { clock, limits } = this.options;
      const tooLate = () => this.finish(codes.noCredential, "no credential came in time");
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
      if (state.bytes > this.options.limits["frame.bytes"]) this.finish(4429, "too many bytes before the socket was admitted");
    } else if (state.kind === "credential.awaited") {
      const frame = parseFrame(bytes);
      state.cancel();
      if (frame.kind === "credential") this.admit(presentedByFrame(frame.text, this.options.tickets));
      else this.finish(codes.unauthenticated, "the first message must be a credential");
    }
  }

  drain(): void {
    if (this.state.kind === "admitted") this.state.connection.drained();
  }

  /** The socket is gone. */
  close(code: number): void {
    if (this.socket === undefined) return;
    this.options.log.debug({ articleId: this.articleId, code }, "collaboration socket closed");
    this.leave();
  }

  /** Something became true about somebody's access. */
  note(fact: AccessFact): void {
    if (this.state.kind === "admitting") this.state.facts.push(fact);
    else if (this.state.kind === "admitted") this.hold(fact, this.state);
  }

  /** Ends the socket from here; nothing is done with it afterwards. */
  finish(code: number, reason: string): void {
    const { socket } = this;
    if (socket === undefined) return;
    this.options.log.debug({ articleId: this.articleId, code, reason }, "collaboration socket closed by the server");
    this.leave();
    socket.close(code, toReason(reason));
  }

  private leave(): void {
    const { state } = this;
    this.state = { kind: "closed" };
    this.socket = undefined;
    this.sessions.delete(this);
    this.cancelExpiry?.();
    if (state.kind === "credential.awaited") state.cancel();
    if (state.kind === "admitted") state.connection.closed();
  }

  private admit(presented: Presented): void {
    const state: State = { kind: "admitting", frames: [], bytes: 0, facts: [] };
    this.state = state;
    const isCurrent = () => this.state === state;
    this.ask(presented, isCurrent).then(
      (admitted) => {
        if (admitted === undefined) return;
        if (!isCurrent()) {
          admitted.connection.closed();
          return;
        }
        this.state = { kind: "admitted", ...admitted };
        this.watchExpiry(admitted.principal);
        for (const fact of state.facts) this.note(fact);
        for (const frame of state.frames) this.message(frame);
      },
      (error: unknown) => {
        if (isCurrent()) this.refuse(error);
      },
    );
  }

  /** In the order of every surface: credential, rate, scope, visibility. */
  private async ask(presented: Presented, isCurrent: () => boolean): Promise<Admitted | undefined> {
    const { authenticator, tickets, rateLimits, rooms } = this.options;
    const principal =
      "ticket" in presented
        ? await tickets.verify(presented.ticket, `article:${this.articleId}`)
        : await authenticator.authenticate(presented);
    const { refusal } = await rateLimits.draw(["rate.connects"], toCredentialId(principal));
    if (refusal !== undefined) throw refusal;
    if (!holds(principal, "articles:read")) {
      throw new AppError("insufficient_scope", "This credential lacks the scope articles:read.");
    }
    const access = await this.options.access.resolve(principal, "article", this.articleId, { deleted: false });
    if (access === undefined) throw new AppError("not_found", "There is no such article, or it is not visible to this credential.");
    const { socket } = this;
    if (socket === undefined || !isCurrent()) return undefined;
    const peer = {
      send: (bytes: Uint8Array) => socket.send(bytes),
      get bufferedBytes() {
        return socket.bufferedBytes;
      },
      close: (code: number, reason: string) => this.finish(code, reason),
    };
    const identity = toIdentity(principal, access);
    const connection = await rooms.connect(this.articleId, peer, identity, { extensions: this.extensions });
    return { principal, access, connection };
  }

  private refuse(error: unknown): void {
    const { refusal, bug } = toRefusal(error);
    if (bug) this.options.log.error({ err: error, articleId: this.articleId }, "a collaboration socket could not be admitted");
    const code = bug ? codes.bug : (errorRow(refusal.code).close ?? codes.badProtocol);
    this.finish(code, refusal.message);
  }

  private hold(fact: AccessFact, { principal, access }: Admitted): void {
    switch (fact.kind) {
      case "key.revoked":
        if (principal.kind === "key" && principal.keyId === fact.keyId) this.finish(codes.revoked, "the key was revoked");
        break;
      case "session.ended":
        if (principal.kind === "session" && principal.sessionId === fact.sessionId) {
          this.finish(codes.unauthenticated, "the session has ended");
        }
        break;
      case "account.disabled":
        if (principal.accountId === fact.accountId) this.finish(codes.unauthenticated, "the account is disabled");
        break;
      case "membership.changed":
        if (principal.accountId === fact.accountId && access.workspaceId === fact.workspaceId) this.review();
        break;
      case "article.deleted":
        if (this.articleId === fact.articleId) this.finish(codes.deleted, "the article was deleted");
        break;
      case "link.unpublished":
        break;
    }
  }

  /** Looks again what the principal may do; of several looks the last one begun counts. */
  private review(): void {
    const { state } = this;
    if (state.kind !== "admitted") return;
    this.reviews += 1;
    const { reviews } = this;
    this.options.access.resolve(state.principal, "article", this.articleId, { deleted: false }).then(
      (access) => {
        if (this.state !== state || this.reviews !== reviews) return;
        if (access === undefined) this.finish(codes.accessLost, "access to the article was lost");
        else state.connection.update(toIdentity(state.principal, access));
      },
      // Who cannot be shown to have access has none.
      (error: unknown) => {
        if (this.state === state) this.refuse(error);
      },
    );
  }

  private watchExpiry(principal: Principal): void {
    if (principal.kind !== "key" || principal.expiresAtMs === undefined) return;
    const { clock } = this.options;
    const leftMs = principal.expiresAtMs - clock.now();
    if (leftMs <= 0) this.finish(codes.unauthenticated, "the key has expired");
    else this.cancelExpiry = clock.after(Math.min(leftMs, longestTimerMs), () => this.watchExpiry(principal));
  }
}

/** A session holds every scope. */
function holds(principal: Principal, scope: Scope): boolean {
  return missingScopes(principal.kind === "key" ? principal.scopes : undefined, [scope]).length === 0;
}

function toIdentity(principal: Principal, access: Access): ConnectionIdentity {
  return {
    author: { username: principal.username, kind: principal.kind === "key" ? "key" : "user" },
    mayWrite: access.role !== "read" && holds(principal, "articles:write"),
    credentialId: toCredentialId(principal),
  };
}

/** A close frame has no room for more; a character must not be cut. */
function toReason(text: string): string {
  let reason = text;
  while (Buffer.byteLength(reason) > maxReasonBytes) reason = reason.slice(0, -1);
  return reason;
}
