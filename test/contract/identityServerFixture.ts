/** Starts identity as a server has it, over a real host, with a first account, for the tests of a file. */
import { afterAll, beforeAll, expect } from "vitest";
import { callRecordTypes } from "../../server/edge/calls/records.ts";
import type { Host } from "../../server/edge/host/port.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { baseUrl } from "../support/composeParts.ts";
import { createIdentity, type Identity, password, recordTypes } from "./identityFixture.ts";
import { startIdentityHost } from "./identityHost.ts";

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
  let logged: readonly string[] = [];

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
    ({ host, logged } = await startIdentityHost(identity));
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
    get logged() {
      return logged;
    },
    call,
    bearer,
    apiKey,
    signIn,
    person,
  };
}
