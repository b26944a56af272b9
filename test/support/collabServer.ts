/** The collaboration socket on a real host, over rooms with a memory log and with invented accounts. */
import * as encoding from "lib0/encoding";
import { pino } from "pino";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Role } from "../../api/contract/operation.ts";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Scope } from "../../api/scopes.ts";
import { createRooms } from "../../realtime/room/rooms.ts";
import type { Principal } from "../../server/domain/call/call.ts";
import type { AccessFact } from "../../server/domain/identity/access/accessFacts.ts";
import { createRateLimits } from "../../server/edge/calls/rateLimits.ts";
import { createCollabSocket } from "../../server/edge/collab/collabSocket.ts";
import type { StartHost } from "../../server/edge/host/port.ts";
import { after } from "../../server/platform/actors/after.ts";
import { createMemoryLog } from "./memoryLog.ts";
import { createMemoryBus } from "./realtimeRig.ts";

// Each provider listens for the exit of the process.
process.setMaxListeners(0);

/** Test credentials: `session:<username>`, and the API key `svc_<username>` with its own scopes. */
export interface TestKey {
  readonly scopes?: readonly Scope[];
  readonly expiresAtMs?: number;
}

/** One line of the server's log. */
export interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface CollabServerOptions {
  readonly limits?: Partial<Limits>;
  /** Number of trusted proxies: with 1, a test chooses its address with `x-forwarded-for`. */
  readonly proxyHops?: number;
  /** Timers of the socket; real ones by default. */
  readonly later?: typeof after;
}

export async function startCollabServer(start: StartHost, { limits = {}, proxyHops = 0, later = after }: CollabServerOptions = {}) {
  const log = createMemoryLog();
  const allLimits = { ...defaultLimits, ...limits };
  const clock = { now: Date.now, after: later };
  const broadcast = { publish: (topic: string, frame: Uint8Array) => host.publish(topic, frame) };
  const rooms = createRooms({ updateLog: log, bus: createMemoryBus(), broadcast, clock, nodeId: "node", limits: allLimits });
  const listeners = new Set<(fact: AccessFact) => void>();
  const missed = new Set<() => void>();
  const keys = new Map<string, TestKey>();
  /** Maps usernames to roles. Other users cannot see the article. */
  const roles = new Map<string, Role>();
  const articles = new Set(["art_one", "art_two"]);
  const refusedKeys = new Set<string>();
  const logLines: LogLine[] = [];
  /** Tokens drawn from each bucket. Buckets are never refilled. */
  const drawn = new Map<string, number>();
  /** With an error, no bucket can be read. */
  const rateStore: { error: Error | undefined } = { error: undefined };

  function sessionOf(username: string): Principal {
    return { kind: "session", accountId: `usr_${username}`, username, operator: false, sessionId: `ses_${username}` };
  }

  const collab = createCollabSocket({
    rooms,
    limits: allLimits,
    clock,
    log: pino({ level: "info", base: null }, { write: (line: string) => void logLines.push(JSON.parse(line)) }),
    proxyHops,
    baseUrl: "https://content.example",
    corsOrigins: ["https://editor.example"],
    accessWatch: {
      subscribe(listener, onMissed) {
        listeners.add(listener);
        if (onMissed !== undefined) missed.add(onMissed);
        return () => {
          listeners.delete(listener);
          if (onMissed !== undefined) missed.delete(onMissed);
        };
      },
    },
    rateLimits: createRateLimits({
      limits: allLimits,
      storage: {
        rates: {
          async take(demands) {
            if (rateStore.error !== undefined) throw rateStore.error;
            return demands.map(({ bucket, policy }) => {
              const count = (drawn.get(bucket) ?? 0) + 1;
              drawn.set(bucket, count);
              return { allowed: count <= policy.burst, remaining: 0, retryAfterMs: 1000 };
            });
          },
        },
      },
    }),
    authenticator: {
      async authenticate({ apiKey, bearer }) {
        if (bearer?.startsWith("session:")) return sessionOf(bearer.slice("session:".length));
        const username = apiKey?.slice("svc_".length) ?? "";
        const key = keys.get(username);
        if (key === undefined) throw new AppError("unauthenticated", "no such credential");
        if (refusedKeys.has(username)) throw new AppError("key_revoked", "the key was revoked");
        return { kind: "key", accountId: `usr_${username}`, username, operator: false, keyId: `key_${username}`, ...key };
      },
    },
    tickets: {
      isTicket: (text) => text.startsWith("tkt_"),
      async verify(ticket, resource) {
        const [username = "", opens] = ticket.slice("tkt_".length).split("@");
        if (opens !== resource) throw new AppError("unauthenticated", "the ticket opens something else");
        return sessionOf(username);
      },
    },
    access: {
      async resolve(principal, _kind, id) {
        const role = roles.get(principal.username);
        return role === undefined || !articles.has(id) ? undefined : { workspaceId: "ws_one", partition: 0, role };
      },
    },
  });
  const app = { handle: () => ({ status: 404, headers: {} }), upgrade: collab.upgrade };
  const errors: unknown[] = [];
  const maxBufferedBytes = allLimits["document.bytes"] + allLimits["socket.buffer"] + allLimits["frame.bytes"];
  const host = await start(app, {
    host: "127.0.0.1",
    port: 0,
    maxFrameBytes: allLimits["frame.bytes"],
    maxBufferedBytes,
    onError: (error) => errors.push(error),
  });
  const url = `ws://127.0.0.1:${host.port}/collab`;
  const providers: WebsocketProvider[] = [];
  const sockets: WebSocket[] = [];

  return {
    log,
    rooms,
    roles,
    keys,
    refusedKeys,
    articles,
    rateStore,
    errors,
    logLines,
    url,
    tell(fact: AccessFact) {
      for (const listener of listeners) listener(fact);
    },
    tellMissed() {
      for (const listener of missed) listener();
    },
    /** Creates a stock y-websocket client with a ticket of this user. */
    provider(username: string, { article = "art_one", document = new Y.Doc(), disableBc = true } = {}): WebsocketProvider {
      const provider = new WebsocketProvider(url, article, document, {
        params: { ticket: `tkt_${username}@article:${article}` },
        WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
        disableBc,
        maxBackoffTime: 200,
      });
      providers.push(provider);
      return provider;
    },
    /** Opens a plain socket; resolves when it is open. */
    async socket(path: string, headers: Record<string, string> = {}): Promise<WebSocket> {
      const socket = new WebSocket(url + path, { headers });
      sockets.push(socket);
      await new Promise<void>((resolve, reject) => {
        socket.once("open", resolve);
        socket.once("error", reject);
      });
      return socket;
    },
    async close() {
      for (const provider of providers) provider.destroy();
      for (const socket of sockets) socket.terminate();
      collab.stop();
      await rooms.drain();
      await host.close();
    },
  };
}

export type CollabServer = Awaited<ReturnType<typeof startCollabServer>>;

/** A first frame that carries a credential. */
export const credentialFrame = (text: string) =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 2);
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarString(encoder, text);
  });

/** Resolves when the socket answers a sync step 1: then it is in the room. */
export async function expectAdmitted(socket: WebSocket): Promise<void> {
  const answered = new Promise<void>((resolve, reject) => {
    socket.on("message", (data: Buffer) => {
      if (data[0] === 0 && data[1] === 1) resolve();
    });
    socket.once("close", (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
  });
  socket.send(Uint8Array.from([0, 0, 1, 0]));
  await answered;
}

/** Returns the close code of a socket. */
export function closeOf(socket: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() })));
}

export function textOf(document: Y.Doc): string {
  return document.getText("content.md").toString();
}

export function write(document: Y.Doc, text: string, at = document.getText("content.md").length): void {
  document.getText("content.md").insert(at, text);
}
