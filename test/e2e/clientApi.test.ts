/** Tests createApi of the client package against the real server. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, expectTypeOf, test, vi } from "vitest";
import { type Api, ApiError, createApi, createTokens, signIn } from "../../client/index.ts";
import { toTrpcClient } from "../../client/router.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let api: Api;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer({ LIMITS: `{"rate.auth":{"count":1,"seconds":60,"burst":4}}` });
  api = createApi({ url: server.url, tokens: await signIn({ url: server.url, ...server.operator }) });
  ({ workspaceId } = await api.trpc.workspaces.create.mutate({ name: "Newsroom", type: "team" }));
});
afterAll(() => server.remove());

/** The requests of a test. */
let requests: { readonly mock: { readonly calls: readonly unknown[][] } };
beforeEach(() => {
  requests = vi.spyOn(globalThis, "fetch");
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Resolves to the error of a call that is refused. */
async function refused(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`not an ApiError: ${String(error)}`);
  return error;
}

test("[CL31] calls of one moment share one request, and each has its own answer and its own error", async () => {
  const [list, me, missing] = await Promise.all([
    api.trpc.articles.list.query({ workspaceId }),
    api.trpc.auth.me.query(),
    refused(api.trpc.articles.get.query({ articleId: "art_01KAHX0000050123456789ABCD" })),
  ]);
  expectTypeOf(list.articles).toBeArray();
  expect([list.articles, me.username, missing.code]).toEqual([[], server.operator.username, "not_found"]);
  expect(requests.mock.calls).toHaveLength(1);
});

test("[CL31] a call with headers is sent alone, and the headers count", async () => {
  const context = { headers: { "idempotency-key": "once" } };
  const create = () => api.trpc.articles.create.mutate({ workspaceId, title: "Once" }, { context });
  const [one, other] = [await create(), await create()];
  expect(other.articleId).toBe(one.articleId);
  const changed = api.trpc.articles.update.mutate(
    { articleId: one.articleId, title: "Two" },
    { context: { headers: { "if-match": '"9-9"' } } },
  );
  expect(await refused(changed)).toMatchObject({ code: "precondition_failed", status: 412 });
});

test("[CL30] a token that the server refuses is renewed once for all calls, and no call fails", async () => {
  const fresh = await signIn({ url: server.url, ...server.operator });
  const renew = vi.fn(async () => ({ accessToken: await fresh.get(), expiresIn: 900 }));
  const stale = createApi({ url: server.url, tokens: createTokens(renew, { accessToken: "ended", expiresIn: 900 }) });
  const answers = await Promise.all([
    stale.trpc.auth.me.query(),
    stale.trpc.workspaces.get.query({ workspaceId }),
    stale.fetch(`/workspaces/${workspaceId}`),
    stale.trpc.articles.create.mutate({ workspaceId, title: "Alone" }, { context: { headers: { "idempotency-key": "stale" } } }),
  ]);
  expect(answers).toHaveLength(4);
  expect(renew).toHaveBeenCalledOnce();
  const ended = createApi({ url: server.url, tokens: createTokens(async () => ({ accessToken: "ended too", expiresIn: 900 })) });
  expect(await refused(ended.trpc.auth.me.query())).toMatchObject({ code: "unauthenticated", status: 401 });
  expect(await refused(ended.fetch("/auth/me"))).toMatchObject({ code: "unauthenticated", status: 401 });
});

test("[CL32] an error has the code, the words, the fields and the pause of the problem document", async () => {
  const wrong = await refused(api.trpc.workspaces.create.mutate({ name: "", type: "team" }));
  expect(wrong).toMatchObject({ name: "ApiError", code: "validation_failed", status: 422, isTemporary: false });
  expect(wrong.errors).toEqual([expect.objectContaining({ pointer: "/name" })]);
  expect(wrong.message).toBe(wrong.problem?.detail);
  expect(await refused(api.fetch("/articles/none"))).toMatchObject({ code: "not_found", status: 404 });
  const sign = () => signIn({ url: server.url, ...server.operator, password: "a wrong password" });
  await vi.waitFor(async () => {
    const limited = await refused(sign());
    expect(limited).toMatchObject({ code: "rate_limited", isTemporary: true });
    expect(limited.retryAfter).toBeGreaterThan(0);
  });
});

test("[CL32] without an answer the code is unreachable, and after an abort it is aborted", async () => {
  const nowhere = createApi({ url: "http://127.0.0.1:9" });
  expect(await refused(nowhere.trpc.auth.me.query())).toMatchObject({ code: "unreachable", status: 0, isTemporary: true });
  expect(await refused(nowhere.fetch("/healthz"))).toMatchObject({ code: "unreachable" });
  const signal = AbortSignal.abort();
  expect(await refused(api.trpc.auth.me.query(undefined, { signal }))).toMatchObject({ code: "aborted", isTemporary: false });
  expect(await refused(api.fetch("/auth/me", { signal }))).toMatchObject({ code: "aborted" });
});

test("[CL33] an API key is sent as such, and not together with tokens", async () => {
  const { key } = await api.trpc.keys.create.mutate({ name: "Search index", scopes: ["workspaces:read"] });
  const keyed = createApi({ url: `${server.url}/`, apiKey: key });
  expect((await keyed.trpc.workspaces.get.query({ workspaceId })).name).toBe("Newsroom");
  expect(await refused(keyed.trpc.articles.list.query({ workspaceId }))).toMatchObject({ code: "insufficient_scope" });
  expect(() => createApi({ url: server.url, apiKey: key, tokens: createTokens(() => Promise.reject(new Error("none"))) })).toThrow(
    "not both",
  );
});

test("[CL33] the client has the types of tRPC for libraries that expect them", async () => {
  const trpc = toTrpcClient(api);
  const { username } = await trpc.auth.me.query();
  expectTypeOf(username).toBeString();
  expect(username).toBe(server.operator.username);
});
