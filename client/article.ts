/**
 * openArticle opens an article live: a Yjs document that the stock provider of y-websocket keeps in step with the server.
 *
 * The state machine decides; this module connects it to the provider, the document and the messages of the socket
 * (docs/collaboration.md). The calls of the API are in `index.ts`, which does not need Yjs.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { type Actor, createActor, type SnapshotFrom } from "xstate";
import { Awareness } from "y-protocols/awareness";
import { writeSyncStep1 } from "y-protocols/sync";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Api, Ticket } from "./api.ts";
import { articleMachine } from "./articleMachine.ts";
import { type ArticleProblem, tooLargeRemedy } from "./closeCodes.ts";

export type { Ticket } from "./api.ts";
export type { ArticleProblem } from "./closeCodes.ts";

/**
 * - `connecting`: the first attempt to connect.
 * - `saved`: everything typed here is on the server's disk.
 * - `saving`: some changes are not on disk yet.
 * - `readOnly`: the text is live, and this credential may not change it.
 * - `offline`: the connection is lost, and the next attempt follows by itself. Typed text is sent then.
 * - `revoked`: access has ended. `retry()` connects again once there is a new credential.
 * - `refused`: the document has a change that the server does not store. Keep a copy of the text. If it was too large, delete
 *   a part and call `retry()`; otherwise open the article again in a new document.
 * - `closed`: `close()` was called.
 */
export type ArticleStatus = "connecting" | "saved" | "saving" | "readOnly" | "offline" | "revoked" | "refused" | "closed";

export interface ArticleState {
  readonly status: ArticleStatus;
  /** Number of changes made here that are not known to be on the server's disk. */
  readonly unsavedChanges: number;
  /** Time of the oldest of them. */
  readonly unsavedSince: Date | undefined;
  /** What the server said last, while it matters. */
  readonly problem: ArticleProblem | undefined;
}

/** The three texts of an article. Each is Markdown. */
export type ArticleFile = "content.md" | "outline.md" | "research.md";

/** The part of a WebSocket class that TypeScript checks. The class of a browser has it, and that of the package `ws`. */
export type WebSocketClass = new (url: string, protocols?: string[]) => { close(): void };

export interface ArticleOptions {
  readonly articleId: string;
  /** Gets tickets with its credential. */
  readonly api?: Api;
  /** Address of the server. Needed without an `api`. */
  readonly url?: string;
  /** Resolves to the answer of `POST /auth/stream-ticket`. Needed without an `api`. An error with a `status` from 400 to 499 ends access. */
  readonly getTicket?: () => Promise<Ticket>;
  /** A document to use, for example one that y-indexeddb fills. By default a new one. */
  readonly doc?: Y.Doc;
  readonly awareness?: Awareness;
  /** Needed where the runtime has no WebSocket, such as Node 20: the class of the package `ws`. */
  readonly WebSocket?: WebSocketClass;
}

export interface Article {
  readonly doc: Y.Doc;
  readonly awareness: Awareness;
  /** By default the text of `content.md`. */
  text(file?: ArticleFile): Y.Text;
  /** The same object until the state changes. */
  readonly state: ArticleState;
  /** Calls the listener after each change of the state. Returns a function that ends this. */
  subscribe(listener: (state: ArticleState) => void): () => void;
  /** Resolves when everything typed here is on disk. Rejects when that cannot happen without the caller, or on abort. */
  untilSaved(signal?: AbortSignal): Promise<void>;
  /** Connects now instead of after the pause, or again after `revoked` or `refused`. */
  retry(): void;
  /** Closes the socket, ends all timers, and destroys the document and the awareness unless they were given. */
  close(): void;
}

/** Message types of the socket. The last two are sent only to clients that ask for them with `extensions=1`. */
const message = { sync: 0, denied: 2, stored: 100, refused: 101 } as const;
/** Bytes that the server takes in one change (`frame.update`) and in one message (`frame.bytes`). */
const maxBytes = { change: 1024 * 1024, message: 4 * 1024 * 1024 } as const;
/** Types of sync messages. */
const sync = { question: 0, answer: 1 } as const;

type ArticleActor = Actor<typeof articleMachine>;
type Snapshot = SnapshotFrom<typeof articleMachine>;

function statusOf(snapshot: Snapshot): ArticleStatus {
  if (snapshot.matches({ active: "offline" })) return snapshot.context.hasTried ? "offline" : "connecting";
  if (snapshot.matches({ active: { writable: "saved" } })) return "saved";
  if (snapshot.matches({ active: "writable" })) return "saving";
  if (snapshot.matches({ active: "readOnly" })) return "readOnly";
  if (snapshot.matches("revoked")) return "revoked";
  return snapshot.matches("refused") ? "refused" : "closed";
}

function stateOf(snapshot: Snapshot): ArticleState {
  const { saves, problem } = snapshot.context;
  const unsavedSince = saves.sinceMs === undefined ? undefined : new Date(saves.sinceMs);
  return { status: statusOf(snapshot), unsavedChanges: saves.unsaved, unsavedSince, problem };
}

function isSame(one: ArticleState, other: ArticleState): boolean {
  return (
    one.status === other.status &&
    one.unsavedChanges === other.unsavedChanges &&
    one.unsavedSince?.getTime() === other.unsavedSince?.getTime() &&
    one.problem?.code === other.problem?.code &&
    one.problem?.detail === other.problem?.detail
  );
}

function ticketSource({ api, getTicket, articleId }: ArticleOptions): () => Promise<Ticket> {
  if (getTicket !== undefined) return getTicket;
  if (api === undefined) throw new TypeError("openArticle needs an api, or url and getTicket");
  return () => api.trpc.auth.streamTicket.mutate({ resource: `article:${articleId}` });
}

function webSocketClass(given: WebSocketClass | undefined): typeof WebSocket {
  const found = given ?? globalThis.WebSocket;
  if (found === undefined)
    throw new TypeError("This runtime has no WebSocket: pass the option WebSocket, such as the class of the package ws");
  return found as unknown as typeof WebSocket;
}

function tooLarge(bytes: number): ArticleProblem {
  const detail = `The text that the server lacks has ${bytes} bytes, and it takes at most ${maxBytes.message} at once. ${tooLargeRemedy}`;
  return { code: "payload_too_large", detail };
}

/** Sends the events of the provider to the machine, and does what the machine emits. */
function connect(actor: ArticleActor, send: ArticleActor["send"], provider: WebsocketProvider): void {
  const { doc } = provider;
  const readSync = provider.messageHandlers[message.sync];
  provider.messageHandlers[message.sync] = (encoder, decoder, ...rest) => {
    const type = decoding.peekVarUint(decoder);
    const wasSynced = provider.synced;
    readSync?.(encoder, decoder, ...rest);
    // The provider sends the answer after this function, unless the machine has closed the socket.
    const answerBytes = encoding.length(encoder);
    if (answerBytes > maxBytes.message) send({ type: "server.refused", ...tooLarge(answerBytes) });
    else if (type === sync.question) send({ type: "server.asked" });
    else if (type === sync.answer) send({ type: wasSynced ? "server.answered" : "socket.synced" });
  };
  // The text of this message is in `refused` as well. The revision of `stored` does not say which changes it includes.
  provider.messageHandlers[message.denied] = () => {};
  provider.messageHandlers[message.stored] = () => {};
  provider.messageHandlers[message.refused] = (_encoder, decoder) => {
    const { code, detail } = JSON.parse(decoding.readVarString(decoder)) as ArticleProblem;
    send({ type: "server.refused", code, detail });
  };
  let isClosing = false;
  provider.on("closed", ({ code, reason }) => send({ type: "socket.closed", code, detail: reason }));
  // Without an event, the provider itself closed a socket: on request, or because it heard nothing for 30 seconds.
  provider.on("connection-close", (event) => {
    if (event === null && !isClosing) send({ type: "socket.closed", code: 1006, detail: "The server was silent for 30 seconds." });
  });

  actor.on("socket.open", ({ ticket }) => {
    provider.params = { ticket, extensions: "1" };
    provider.connect();
  });
  actor.on("socket.close", () => {
    isClosing = true;
    provider.disconnect();
    isClosing = false;
  });
  actor.on("server.ask", () => {
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, message.sync);
    writeSyncStep1(encoder, doc);
    provider.ws?.send(encoding.toUint8Array(encoder));
  });
}

export function openArticle(options: ArticleOptions): Article {
  const { articleId, api, url = api?.url } = options;
  const getTicket = ticketSource(options);
  if (url === undefined) throw new TypeError("openArticle needs an api, or url and getTicket");
  const doc = options.doc ?? new Y.Doc();
  const awareness = options.awareness ?? new Awareness(doc);
  // Before the provider listens, so that the machine learns of a large change before the provider sends it.
  doc.on("update", noteLarge);
  const provider = new WebsocketProvider(`${url.replace(/^http/, "ws").replace(/\/+$/, "")}/collab`, articleId, doc, {
    awareness,
    connect: false,
    // Tabs exchange text through the server only, so what one tab shows of others is on disk.
    disableBc: true,
    // The machine reconnects.
    shouldReconnect: () => false,
    WebSocketPolyfill: webSocketClass(options.WebSocket),
  });
  const hasText = Y.encodeStateVector(doc).length > 1;
  const actor = createActor(articleMachine, { input: { getTicket, now: Date.now, random: Math.random, hasText } });
  /** An actor that has ended warns about further events. */
  const send: ArticleActor["send"] = (event) => {
    if (actor.getSnapshot().status === "active") actor.send(event);
  };
  connect(actor, send, provider);

  function noteLarge(update: Uint8Array, origin: unknown): void {
    if (origin !== provider && update.length > maxBytes.change) send({ type: "text.large" });
  }
  function countChange(_update: Uint8Array, origin: unknown): void {
    if (origin !== provider) send({ type: "text.changed" });
  }
  // After the provider has sent the change, so that a question about it follows it.
  doc.on("update", countChange);

  const listeners = new Set<(state: ArticleState) => void>();
  let state = stateOf(actor.getSnapshot());
  actor.subscribe((snapshot) => {
    const next = stateOf(snapshot);
    if (isSame(state, next)) return;
    state = next;
    for (const listener of [...listeners]) listener(next);
  });
  actor.start();

  function subscribe(listener: (state: ArticleState) => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return {
    doc,
    awareness,
    text: (file = "content.md") => doc.getText(file),
    get state() {
      return state;
    },
    subscribe,
    untilSaved(signal) {
      return new Promise((resolve, reject) => {
        const end = new AbortController();
        const check = ({ status, unsavedChanges, problem }: ArticleState): void => {
          const isLive = status === "saved" || status === "saving" || status === "readOnly";
          const isOver = status === "revoked" || status === "refused" || status === "closed" || status === "readOnly";
          if (isLive && unsavedChanges === 0) resolve();
          else if (isOver) reject(new Error(`The text is not saved: ${problem?.detail ?? `the article is ${status}`}`));
          else return;
          end.abort();
        };
        const unsubscribe = subscribe(check);
        end.signal.addEventListener("abort", unsubscribe);
        signal?.addEventListener(
          "abort",
          () => {
            unsubscribe();
            reject(signal.reason);
          },
          { signal: end.signal },
        );
        if (signal?.aborted === true) {
          unsubscribe();
          reject(signal.reason);
        } else check(state);
      });
    },
    retry: () => send({ type: "retry" }),
    close() {
      send({ type: "close" });
      doc.off("update", noteLarge);
      doc.off("update", countChange);
      provider.destroy();
      if (options.awareness === undefined) awareness.destroy();
      if (options.doc === undefined) doc.destroy();
      listeners.clear();
    },
  };
}
