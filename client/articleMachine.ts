/**
 * The state machine of an open article: connection, ticket, access, and whether the text is on the server's disk.
 *
 * The machine owns every reconnect. It emits what must be done with the socket and knows nothing of Yjs. Its timers and its
 * invoked promise are not persisted, because the machine lives as long as the page.
 */
import { assertEvent, assign, emit, fromPromise, setup } from "xstate";
import type { Ticket } from "./api.ts";
import { backoffMs } from "./backoff.ts";
import { type ArticleProblem, type CloseReason, readCloseCode, tooLargeRemedy } from "./closeCodes.ts";
import { dropQuestion, noteAnswer, noteChange, noteQuestion, nothingUnsaved, type Saves } from "./saves.ts";

export interface ArticleInput {
  getTicket(): Promise<Ticket>;
  /** Unix milliseconds. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** True if the document has text that was not read from this server. */
  readonly hasText: boolean;
}

export interface ArticleContext extends ArticleInput {
  readonly saves: Saves;
  readonly ticket: Ticket | undefined;
  /** False until the first attempt to connect has ended. */
  readonly hasTried: boolean;
  /** The server takes text on this connection. */
  readonly isWriter: boolean;
  /** Attempts that failed since the last success. */
  readonly failures: number;
  readonly pauseMs: number;
  readonly problem: ArticleProblem | undefined;
}

export type ArticleEvent =
  | { readonly type: "text.changed" }
  /** The next change is larger than the server takes on an open connection. A new connection begins with all unsaved text. */
  | { readonly type: "text.large" }
  /** The first answer of the server: the document has the server's text. */
  | { readonly type: "socket.synced" }
  /** The server's question (sync step 1), which only writers get. */
  | { readonly type: "server.asked" }
  /** A later answer: everything that the server received before the question is stored. */
  | { readonly type: "server.answered" }
  /** The server refused a change (message 101), or would refuse the message that it asked for. */
  | { readonly type: "server.refused"; readonly code: string; readonly detail: string }
  | { readonly type: "socket.closed"; readonly code: number; readonly detail: string }
  /** Connect now, or again after access had ended or a change was refused. */
  | { readonly type: "retry" }
  | { readonly type: "close" };

export type ArticleEffect =
  | { readonly type: "socket.open"; readonly ticket: string }
  | { readonly type: "socket.close" }
  /** Send sync step 1. */
  | { readonly type: "server.ask" };

/** A ticket that ends earlier is renewed before it is used. */
const leastTicketMs = 30_000;
/** Pause between an answer and the next question, while text is being typed. */
const askPauseMs = 500;
/** Shortest pause after the server closed a socket because of too many connections or messages. */
const tooManyPauseMs = 5000;

/** What a source of tickets throws. An ApiError has these fields. */
interface TicketError {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  /** Seconds. */
  readonly retryAfter?: unknown;
}

const readError = (thrown: unknown): TicketError => (typeof thrown === "object" && thrown !== null ? thrown : { message: thrown });

/** Statuses after which the same request may succeed later. */
const passing = new Set([408, 425, 429]);

const isRefusal = ({ status }: TicketError): boolean => typeof status === "number" && status >= 400 && status < 500 && !passing.has(status);

function toProblem({ code, message }: TicketError): ArticleProblem {
  return { code: typeof code === "string" ? code : "unreachable", detail: String(message) };
}

function closedFor(reason: CloseReason) {
  return ({ event }: { readonly event: ArticleEvent }) => event.type === "socket.closed" && readCloseCode(event.code).reason === reason;
}

/** Refusals after which the text may still be read. */
const readOnlyCodes = new Set(["insufficient_permission", "insufficient_role", "insufficient_scope"]);

export const articleMachine = setup({
  types: {
    context: {} as ArticleContext,
    events: {} as ArticleEvent,
    emitted: {} as ArticleEffect,
    input: {} as ArticleInput,
  },
  actors: {
    getTicket: fromPromise<Ticket, Pick<ArticleInput, "getTicket">>(({ input }) => input.getTicket()),
  },
  actions: {
    countChange: assign({ saves: ({ context }) => noteChange(context.saves, context.now()) }),
    ask: emit({ type: "server.ask" }),
    countQuestion: assign({ saves: ({ context }) => noteQuestion(context.saves) }),
    countAnswer: assign({ saves: ({ context }) => noteAnswer(context.saves) }),
    open: emit(({ context }) => ({ type: "socket.open", ticket: context.ticket?.ticket ?? "" })),
    closeSocket: emit({ type: "socket.close" }),
    beginConnection: assign({ isWriter: false, saves: ({ context }) => dropQuestion(context.saves) }),
    becomeWriter: assign({ isWriter: true }),
    becomeReader: assign({ isWriter: false, saves: ({ context }) => dropQuestion(context.saves) }),
    noteConnected: assign({ failures: 0, hasTried: true, problem: undefined }),
    keepTicket: assign({ ticket: (_, ticket: Ticket) => ticket }),
    dropTicket: assign({ ticket: undefined }),
    forgetProblem: assign({ problem: undefined, failures: 0 }),
    /** A ticket that the server refused is replaced at once, the first time. */
    noteClosed: assign(({ context, event }) => {
      assertEvent(event, "socket.closed");
      const { reason, code } = readCloseCode(event.code);
      const failures = context.failures + 1;
      const backoff = backoffMs(failures, context.random());
      const pauseMs = reason === "tooMany" ? tooManyPauseMs + backoff : reason === "ticket" && failures === 1 ? 0 : backoff;
      const words = event.detail === "" ? `The connection was closed (${event.code}).` : event.detail;
      const detail = code === "payload_too_large" ? `${words.replace(/\.?$/, ".")} ${tooLargeRemedy}` : words;
      return { failures, pauseMs, problem: { code, detail }, hasTried: true };
    }),
    /** A socket that closed with "the account was disabled" says more than the refusal of the ticket that follows. */
    noteNoTicket: assign(({ context }, error: TicketError) => {
      const failures = context.failures + 1;
      const afterMs = typeof error.retryAfter === "number" ? error.retryAfter * 1000 : 0;
      const { code, detail } = toProblem(error);
      const before = context.problem?.code === "unauthenticated" && isRefusal(error) ? `${context.problem.detail}: ` : "";
      const problem = { code, detail: before + detail };
      return { failures, pauseMs: afterMs + backoffMs(failures, context.random()), problem, hasTried: true };
    }),
    noteRefused: assign(({ event }) => {
      assertEvent(event, "server.refused");
      return { problem: { code: event.code, detail: event.detail } };
    }),
  },
  guards: {
    hasTicket: ({ context: { ticket, now } }) => ticket !== undefined && Date.parse(ticket.expiresAt) - now() > leastTicketMs,
    isRefusal: (_, error: TicketError) => isRefusal(error),
    isWriter: ({ context }) => context.isWriter,
    isSaved: ({ context }) => context.saves.unsaved === 0,
    needsTicket: closedFor("ticket"),
    hasEnded: closedFor("ended"),
    hasBadContent: closedFor("content"),
    mayOnlyRead: ({ event }) => event.type === "server.refused" && readOnlyCodes.has(event.code),
  },
  delays: {
    pause: ({ context }) => context.pauseMs,
    untilQuestion: askPauseMs,
  },
}).createMachine({
  id: "article",
  context: ({ input }) => ({
    ...input,
    saves: input.hasText ? noteChange(nothingUnsaved, input.now()) : nothingUnsaved,
    ticket: undefined,
    hasTried: false,
    isWriter: false,
    failures: 0,
    pauseMs: 0,
    problem: undefined,
  }),
  on: { "text.changed": { actions: "countChange" }, close: ".closed" },
  initial: "active",
  states: {
    active: {
      initial: "offline",
      on: {
        "server.asked": { actions: "becomeWriter" },
        "socket.synced": [
          { guard: "isWriter", target: ".writable", actions: "noteConnected" },
          { target: ".readOnly", actions: "noteConnected" },
        ],
        "server.refused": [
          { guard: "mayOnlyRead", target: ".readOnly", actions: ["becomeReader", "noteRefused"] },
          { target: "refused", actions: "noteRefused" },
        ],
        "socket.closed": [
          { guard: "hasEnded", target: "revoked", actions: "noteClosed" },
          { guard: "hasBadContent", target: "refused", actions: "noteClosed" },
          { guard: "needsTicket", target: ".offline.waiting", actions: ["noteClosed", "dropTicket"] },
          { target: ".offline.waiting", actions: "noteClosed" },
        ],
      },
      states: {
        offline: {
          entry: "beginConnection",
          initial: "choosing",
          on: { retry: ".choosing" },
          states: {
            choosing: { always: [{ guard: "hasTicket", target: "connecting" }, { target: "gettingTicket" }] },
            gettingTicket: {
              on: { retry: {} },
              invoke: {
                src: "getTicket",
                input: ({ context }) => context,
                onDone: { target: "connecting", actions: { type: "keepTicket", params: ({ event }) => event.output } },
                onError: [
                  {
                    guard: { type: "isRefusal", params: ({ event }) => readError(event.error) },
                    target: "#article.revoked",
                    actions: { type: "noteNoTicket", params: ({ event }) => readError(event.error) },
                  },
                  { target: "waiting", actions: { type: "noteNoTicket", params: ({ event }) => readError(event.error) } },
                ],
              },
            },
            connecting: { entry: "open", on: { retry: {}, "text.large": { target: "#article.active.offline", actions: "closeSocket" } } },
            waiting: { after: { pause: "choosing" } },
          },
        },
        readOnly: { on: { "server.asked": { target: "writable", actions: ["becomeWriter", "forgetProblem"] } } },
        writable: {
          initial: "choosing",
          on: { "text.large": { target: "offline", actions: "closeSocket" } },
          states: {
            choosing: { always: [{ guard: "isSaved", target: "saved" }, { target: "saving" }] },
            saved: { on: { "text.changed": { target: "saving", actions: "countChange" } } },
            saving: {
              initial: "asking",
              states: {
                asking: {
                  entry: ["countQuestion", "ask"],
                  on: { "server.answered": { target: "answered", actions: "countAnswer" } },
                },
                answered: { always: { guard: "isSaved", target: "#article.active.writable.saved" }, after: { untilQuestion: "asking" } },
              },
            },
          },
        },
      },
    },
    /** Access has ended. The text stays, and is sent after a `retry` with a new credential. */
    revoked: { entry: ["dropTicket", "closeSocket"], on: { retry: { target: "active", actions: "forgetProblem" } } },
    /**
     * The document holds a change that the server refused. The text stays. A `retry` sends it again, which helps if it was too
     * large and is smaller now. Otherwise only a new document helps.
     */
    refused: { entry: "closeSocket", on: { retry: { target: "active", actions: "forgetProblem" } } },
    closed: { type: "final", entry: "closeSocket" },
  },
});
