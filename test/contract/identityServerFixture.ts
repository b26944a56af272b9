/** Starts identity as a server has it, over a real host, with a first account, for the tests of a file. */
import pino from "pino";
import { afterAll, beforeAll, expect } from "vitest";
import { accounts } from "../../api/contract/accounts.ts";
import { auth } from "../../api/contract/auth.ts";
import { keys } from "../../api/contract/keys.ts";
import { members } from "../../api/contract/members.ts";
import { workspaces } from "../../api/contract/workspaces.ts";
import { createApp } from "../../server/edge/app.ts";
import { callRecordTypes } from "../../server/edge/calls/records.ts";
import { createAccountHandlers } from "../../server/edge/handlers/accounts.ts";
import { createAuthHandlers } from "../../server/edge/handlers/auth.ts";
import { createKeyHandlers } from "../../server/edge/handlers/keys.ts";
import { createMemberHandlers } from "../../server/edge/handlers/members.ts";
import { createSearchHandler } from "../../server/edge/handlers/search.ts";
import { createWorkspaceHandlers } from "../../server/edge/handlers/workspaces.ts";
import type { Host } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { setupRoutes } from "../../server/edge/pages/setup.ts";
import { createWellKnownRoutes } from "../../server/edge/pages/wellKnown.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { baseUrl } from "../support/composeParts.ts";
import { createIdentity, type Identity, leaseMs, password, recordTypes } from "./identityFixture.ts";

export const contract = { auth, accounts, keys, workspaces, members };

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's body, read field by field
  readonly body: any;
}

/** Call it in `describe`. The getters have the values of the running server. */
export function useIdentityServer() {
  let host: Host;
  let identity: Identity;
  let rootToken: string;
  const logged: string[] = [];

  async function call(
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string>; raw?: string } = {},
  ): Promise<Answer> {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const response = await fetch(`http://127.0.0.1:${host.port}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...options.headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const apiKey = (key: string) => ({ "x-api-key": key });
  const signIn = async (username: string) =>
    (await call("POST", "/auth/token", { body: { grantType: "password", username, password } })).body;
  async function person(username: string): Promise<Record<string, string>> {
    await call("POST", "/accounts", { body: { username, password }, headers: bearer(rootToken) });
    return bearer((await signIn(username)).accessToken);
  }

  beforeAll(async () => {
    const clock = {
      get nowMs() {
        return Date.now();
      },
    };
    const storage = createMemoryStorage({ recordTypes: [...(recordTypes as never[]), ...callRecordTypes] });
    identity = await createIdentity(
      { storage, clock },
      { limits: { "rate.auth": "off", "rate.management": "off", "keys.active": 10_000 } },
    );
    const app = createApp({
      contract: contract as never,
      handlers: {
        auth: createAuthHandlers(identity),
        accounts: createAccountHandlers(identity),
        keys: createKeyHandlers(identity),
        workspaces: { ...createWorkspaceHandlers(identity), search: createSearchHandler(async () => ({ hits: [], state: "ready" })) },
        members: createMemberHandlers(identity),
      } as never,
      authenticator: identity.authenticator,
      access: identity.accessResolver,
      storage,
      limits: identity.limits,
      log: pino({ level: "trace" }, { write: (line: string) => void logged.push(line) }),
      baseUrl,
      node: "node-1",
      leaseMs,
      corsOrigins: [],
      proxyHops: 0,
      routes: [...setupRoutes, ...createWellKnownRoutes({ jwks: identity.jwks, baseUrl })],
      upgrade: () => ({ refuse: { status: 404, headers: {} } }),
    });
    host = await startUwsHost(app, {
      host: "127.0.0.1",
      port: 0,
      maxFrameBytes: 1024,
      maxBufferedBytes: 1024,
      onError: (error) => void logged.push(String(error)),
    });
    const prepared = await identity.prepare();
    const token = new URLSearchParams(new URL(prepared.kind === "link" ? prepared.url : baseUrl).hash.slice(1)).get("token");
    const setup = await call("POST", "/auth/setup", { body: { token, username: "Root", password } });
    expect([setup.status, setup.headers.get("location"), setup.body]).toEqual([
      201,
      "/auth/me",
      { username: "root", operator: true, disabled: false, createdAt: expect.any(Number) },
    ]);
    rootToken = (await signIn("root")).accessToken;
  });
  afterAll(async () => {
    await host.close();
    await identity.settled();
  });

  return {
    get identity() {
      return identity;
    },
    /** The access token of the first account, which is an operator. */
    get rootToken() {
      return rootToken;
    },
    logged,
    call,
    bearer,
    apiKey,
    signIn,
    person,
  };
}
