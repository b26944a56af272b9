/** The clients of the tests: plain REST, the stock tRPC client, and a stock y-websocket editor. */
import { createTRPCClient, httpBatchLink, type TRPCClient } from "@trpc/client";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { AppRouter } from "../../api/derive/trpc.ts";

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

// biome-ignore lint/suspicious/noExplicitAny: a test names the type of the body it expects, or reads it without a type
type AnyBody = any;

export interface Rest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  request<Body = AnyBody>(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer<Body>>;
  /** Fails unless the answer has this status. */
  expect<Body = AnyBody>(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Body>;
  with(headers: Readonly<Record<string, string>>): Rest;
}

export function createRest(url: string, own: Readonly<Record<string, string>> = {}): Rest {
  async function request<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const answer = await fetch(url + path, {
      method,
      headers: { ...own, ...(body === undefined || raw ? {} : { "content-type": "application/json" }), ...headers },
      redirect: "manual",
      ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    return { status: answer.status, headers: answer.headers, body: (isJson && text !== "" ? JSON.parse(text) : text) as Body };
  }

  return {
    url,
    headers: own,
    request,
    async expect<Body>(status: number, method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) {
      const answer = await request<Body>(method, path, body, headers);
      if (answer.status !== status) {
        throw new Error(`${method} ${path} answered ${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`);
      }
      return answer.body;
    },
    with: (headers) => createRest(url, { ...own, ...headers }),
  };
}

/** Signs in with a password and returns a client that sends the access token. */
export async function signIn(url: string, account: { readonly username: string; readonly password: string }): Promise<Rest> {
  const { username, password } = account;
  const { accessToken } = await createRest(url).expect(200, "POST", "/auth/token", { grantType: "password", username, password });
  return createRest(url, { authorization: `Bearer ${accessToken}` });
}

export function createTrpc(rest: Rest): TRPCClient<AppRouter> {
  return createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: `${rest.url}/trpc`, headers: rest.headers })] });
}

export interface Editor {
  readonly document: Y.Doc;
  readonly text: Y.Text;
  readonly provider: WebsocketProvider;
  /** Resolves once the text passes `fits`. */
  until(fits: (text: string) => boolean): Promise<string>;
  close(): void;
}

/** Opens an article with a ticket, as a browser does. Resolves when the editor is in sync. */
export async function openEditor(rest: Rest, articleId: string, file = "content.md"): Promise<Editor> {
  const { ticket } = await rest.expect(201, "POST", "/auth/stream-ticket", { resource: `article:${articleId}` });
  const document = new Y.Doc();
  const provider = new WebsocketProvider(`${rest.url.replace(/^http/, "ws")}/collab`, articleId, document, {
    params: { ticket },
    // The provider needs a browser's WebSocket; the one of `ws` has the same members.
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    maxBackoffTime: 300,
    disableBc: true,
  });
  const text = document.getText(file);
  await new Promise<void>((resolve) => {
    const look = (synced: boolean): void => {
      if (!synced) return;
      provider.off("sync", look);
      resolve();
    };
    provider.on("sync", look);
    look(provider.synced);
  });
  return {
    document,
    text,
    provider,
    until: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!fits(text.toString())) return;
          text.unobserve(look);
          resolve(text.toString());
        };
        text.observe(look);
        look();
      }),
    close() {
      provider.destroy();
      document.destroy();
    },
  };
}
