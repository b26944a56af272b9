/**
 * createApi makes a typed client of the server's operations, with batching, renewal of access tokens and one class of errors.
 */
import { createTRPCClient, httpBatchStreamLink, httpLink, type Operation, splitLink, type TRPCLink } from "@trpc/client";
import { observable } from "@trpc/server/observable";
import { readApiError, toApiError } from "./apiError.ts";
import type { Contract } from "./contract.ts";
import type { Tokens } from "./tokens.ts";

export interface ApiOptions {
  /** Address of the server, such as `https://content.example`. */
  readonly url: string;
  /** The source of access tokens. Without tokens and key, only operations that need no credential work. */
  readonly tokens?: Tokens;
  readonly apiKey?: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** `headers` are those of one operation, such as `if-match` and `idempotency-key`. A call with headers is not batched. */
  readonly context?: { readonly headers: Readonly<Record<string, string>> };
}

interface Described {
  readonly kind: unknown;
  readonly input: unknown;
  readonly output: unknown;
}

type Call<O extends Described> = O["kind"] extends "query"
  ? { query(input: O["input"], options?: CallOptions): Promise<O["output"]> }
  : { mutate(input: O["input"], options?: CallOptions): Promise<O["output"]> };

type OperationsOf<Resource> = {
  readonly [Name in keyof Resource as Resource[Name] extends { readonly kind: "query" | "mutation" }
    ? Name
    : never]: Resource[Name] extends Described ? Call<Resource[Name]> : never;
};

/** The operations by their `operationId`: `articles.get` is `trpc.articles.get.query(input)`. Calls reject with an ApiError. */
export type TypedClient = { readonly [Resource in keyof Contract]: OperationsOf<Contract[Resource]> };

/** The answer of `POST /auth/stream-ticket`. */
export type Ticket = Contract["auth"]["streamTicket"]["output"];

export interface Api {
  /** Without a slash at the end. */
  readonly url: string;
  readonly trpc: TypedClient;
  /**
   * Sends one request with the credential. Resolves to a successful answer and throws an ApiError for any other. An access
   * token that the server refuses is renewed once.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** Limits of one batch. The server accepts 100 calls and addresses of 8 KiB. */
const batch = { maxItems: 50, maxURLLength: 4000 };

/** The token that was sent with an operation, so that its refusal names the right one. */
const sentTokens = new WeakMap<object, string>();

function headersOf(operation: Operation): Readonly<Record<string, string>> | undefined {
  return (operation.context as NonNullable<CallOptions["context"]>).headers;
}

export function createApi({ url, tokens, apiKey }: ApiOptions): Api {
  if (tokens !== undefined && apiKey !== undefined) throw new TypeError("createApi takes tokens or an apiKey, not both");
  const base = url.replace(/\/+$/, "");

  async function credential(): Promise<{ readonly token?: string; readonly headers: Record<string, string> }> {
    if (apiKey !== undefined) return { headers: { "x-api-key": apiKey } };
    const token = await tokens?.get();
    return token === undefined ? { headers: {} } : { token, headers: { authorization: `Bearer ${token}` } };
  }

  async function headersFor(operations: readonly Operation[]): Promise<Record<string, string>> {
    const { token, headers } = await credential();
    if (token !== undefined) for (const { context } of operations) sentTokens.set(context, token);
    return headers;
  }

  /** Repeats an operation once with a new token if the server refused the token. */
  const renewing: TRPCLink<never> =
    () =>
    ({ op, next }) =>
      observable((observer) => {
        let mayRepeat = tokens !== undefined;
        let subscription = attempt();
        function attempt(): { unsubscribe(): void } {
          return next(op).subscribe({
            next: (value) => observer.next(value),
            complete: () => observer.complete(),
            error(reason) {
              const error = toApiError(reason);
              const token = sentTokens.get(op.context);
              if (error.status === 401 && token !== undefined && mayRepeat) {
                mayRepeat = false;
                tokens?.refuse(token);
                subscription = attempt();
              } else observer.error(error as never);
            },
          });
        }
        return () => subscription.unsubscribe();
      });

  const sending = splitLink({
    condition: (operation) => headersOf(operation) !== undefined,
    true: httpLink({ url: `${base}/trpc`, headers: async ({ op }) => ({ ...headersOf(op), ...(await headersFor([op])) }) }),
    false: httpBatchStreamLink({ url: `${base}/trpc`, headers: ({ opList }) => headersFor(opList), ...batch }),
  });

  async function attempt(path: string, init: RequestInit): Promise<Response> {
    const { token, headers } = await credential();
    const sent = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    const answer = await fetch(base + path, { ...init, headers: sent });
    if (answer.ok) return answer;
    if (answer.status === 401 && token !== undefined) tokens?.refuse(token);
    throw await readApiError(answer);
  }

  return {
    url: base,
    trpc: createTRPCClient({ links: [renewing, sending] }) as unknown as TypedClient,
    async fetch(path, init = {}) {
      try {
        return await attempt(path, init).catch((reason: unknown) => {
          if (tokens === undefined || toApiError(reason).status !== 401) throw reason;
          return attempt(path, init);
        });
      } catch (reason) {
        throw toApiError(reason);
      }
    },
  };
}
