import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type ModelEndpoint, startModelEndpoint } from "../../../../test/support/modelEndpoint.ts";
import { after } from "../../../platform/actors/after.ts";
import { createProviderFetch } from "../../../platform/outbound/providerFetch.ts";
import { createPublicAddresses } from "../../../platform/outbound/publicAddress.ts";
import { createResolve } from "../../../platform/outbound/resolver.ts";
import { createModel, type Model, type ModelOutcome, type ModelRequest } from "./model.ts";

const apiKey = "secret-of-the-operator";
const bounds = { maxBytes: 2_000_000, maxLineBytes: 50_000, maxReceivedBytes: 4_000_000 };
let endpoint: ModelEndpoint;
const told = vi.fn();
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  endpoint = await startModelEndpoint();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => endpoint.close());

function connect({ allow = ["127.0.0.0/8"], quietMs = 5000, baseUrl = endpoint.baseUrl, maxRetries = 0, totalMs = 60_000 } = {}): Model {
  const provider = createProviderFetch({
    baseUrl,
    addresses: createPublicAddresses(allow),
    resolve: createResolve(),
    connectMs: 2000,
    quietMs,
    ...bounds,
  });
  closing.push(provider.close);
  return createModel({
    baseUrl,
    apiKey,
    name: "stand-in",
    fetch: provider.fetch,
    maxRetries,
    totalMs,
    maxTextBytes: 100_000,
    after,
    log: { warn: told },
  });
}

function ask(model: Model, more: Partial<ModelRequest> = {}): Promise<ModelOutcome> {
  const signal = new AbortController().signal;
  return model.ask({ system: "Be brief.", prompt: "Say hello.", idempotencyKey: "run/step", budget: {}, signal, ...more });
}

test("[EX1] a model's text arrives in pieces, in order, with its usage and cost", async () => {
  const text = "# Wells\n\nA well is a hole with water in it. ".repeat(20);
  endpoint.answer({ kind: "text", text, usage: { prompt_tokens: 12, completion_tokens: 345, cost: 0.002 } });
  const pieces: string[] = [];
  const outcome = await ask(connect(), { onText: async (piece) => void pieces.push(piece) });
  expect(outcome).toEqual({ kind: "done", text, usage: { inputTokens: 12, outputTokens: 345, usd: 0.002, toolCalls: 0 } });
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.join("")).toBe(text);
  expect(endpoint.asked.at(-1)).toMatchObject({ path: "/v1/chat/completions", system: "Be brief.", prompt: "Say hello." });
  expect(endpoint.asked.at(-1)?.headers).toMatchObject({ authorization: "Bearer secret-of-the-operator", "idempotency-key": "run/step" });
});

test.each([
  ["a refused credential", { kind: "status", status: 401 }, "provider_unavailable", false],
  ["too many requests", { kind: "status", status: 429 }, "provider_quota", true],
  ["a failing endpoint", { kind: "status", status: 500 }, "provider_unavailable", true],
  ["a quiet end in the middle", { kind: "breakOff", text: "Half a sen" }, "provider_unavailable", true],
  ["a torn connection", { kind: "breakOff", text: "Half a sen", reset: true }, "provider_unavailable", true],
  ["an answer that is no stream", { kind: "garbage" }, "provider_unavailable", true],
  ["an empty text", { kind: "text", text: "" }, "provider_unavailable", true],
  ["a text cut at its greatest length", { kind: "text", text: "Half", finishReason: "length" }, "step_failed", true],
  ["a filtered text", { kind: "text", text: "", finishReason: "content_filter" }, "step_failed", false],
] as const)("[EX2] %s is a failure that names the reason, never a finished text", async (_what, answer, code, retryable) => {
  endpoint.answer(answer);
  const outcome = await ask(connect());
  expect(outcome).toMatchObject({ kind: "failed", code, retryable });
  expect(JSON.stringify(outcome)).not.toContain("secret-of-the-operator");
});

test("[EX2] an endpoint that sends nothing for too long is a failure", async () => {
  endpoint.answer({ kind: "hang", text: "Once upon" });
  const outcome = await ask(connect({ quietMs: 300 }));
  expect(outcome).toMatchObject({ kind: "failed", code: "provider_unavailable", message: expect.stringContaining("sent nothing") });
});

test("[EX2] a request that failed before its answer began is retried", async () => {
  endpoint.answer({ kind: "status", status: 503 }, { kind: "text", text: "Hello." });
  const before = endpoint.asked.length;
  expect(await ask(connect({ maxRetries: 1 }))).toMatchObject({ kind: "done", text: "Hello." });
  expect(endpoint.asked.length - before).toBe(2);
}, 20_000);

test("[EX3] a text that would exceed the budget is stopped and fails with budget_exhausted", async () => {
  endpoint.answer({ kind: "text", text: "word ".repeat(4000), pieceMs: 1 });
  const outcome = await ask(connect(), { budget: { tokens: 200 } });
  expect(outcome).toMatchObject({ kind: "failed", code: "budget_exhausted" });
  expect(endpoint.asked.at(-1)?.maxTokens).toBeLessThan(200);
  endpoint.answer({ kind: "text", text: "Short.", usage: { prompt_tokens: 500, completion_tokens: 5 } });
  expect(await ask(connect(), { budget: { tokens: 200 } })).toMatchObject({ kind: "failed", code: "budget_exhausted" });
  endpoint.answer({ kind: "text", text: "Short.", usage: { prompt_tokens: 5, completion_tokens: 5, cost: 0.5 } });
  expect(await ask(connect(), { budget: { usd: 0.1 } })).toMatchObject({ kind: "failed", code: "budget_exhausted" });
});

test("[EX3] tokens that an endpoint does not count are counted here, even if the answer breaks off", async () => {
  const text = "word ".repeat(400);
  endpoint.answer({ kind: "text", text, usage: null });
  expect(await ask(connect())).toMatchObject({ kind: "done", usage: { inputTokens: 5, outputTokens: 500, usd: 0 } });
  endpoint.answer({ kind: "breakOff", text });
  expect(await ask(connect())).toMatchObject({ kind: "failed", usage: { inputTokens: 5, outputTokens: 500 } });
});

test("[EX17] the endpoint's own error text is written only to the log, without the key", async () => {
  told.mockClear();
  endpoint.answer({ kind: "status", status: 400, message: `no such key: ${apiKey}` });
  const outcome = await ask(connect());
  expect(outcome).toMatchObject({ kind: "failed", code: "provider_unavailable", retryable: false });
  expect(JSON.stringify(outcome)).not.toContain("no such key");
  const line = JSON.stringify(told.mock.calls);
  expect(line).toContain("no such key: …");
  expect(line).not.toContain(apiKey);
});

test("[EX4] an aborted request ends at once without an answer", async () => {
  endpoint.answer({ kind: "hang", text: "Once upon a time" });
  const stop = new AbortController();
  const asking = ask(connect(), { signal: stop.signal, onText: async () => stop.abort() });
  await expect(asking).rejects.toThrow("aborted");
});

test("[EX4] when its text can no longer be written, the connection to the endpoint is closed", async () => {
  endpoint.answer({ kind: "text", text: "word ".repeat(20_000), pieceMs: 5 });
  const writing = ask(connect(), { onText: () => Promise.reject(new Error("the file is full")) });
  await expect(writing).rejects.toThrow("the file is full");
  await expect.poll(() => endpoint.talking, { timeout: 2000 }).toBe(0);
});

test("[OB7] a model's address must be public or allowed, and no other origin is called", async () => {
  const before = endpoint.asked.length;
  const outcome = await ask(connect({ allow: [] }));
  expect(outcome).toMatchObject({ kind: "failed", code: "provider_unavailable", message: expect.stringContaining("OUTBOUND_ALLOW_CIDRS") });
  const named = await ask(connect({ allow: [], baseUrl: endpoint.baseUrl.replace("127.0.0.1", "localhost") }));
  expect(named).toMatchObject({ kind: "failed", code: "provider_unavailable", message: expect.stringContaining("OUTBOUND_ALLOW_CIDRS") });
  expect(endpoint.asked.length).toBe(before);
  const { fetch, close } = createProviderFetch({
    baseUrl: endpoint.baseUrl,
    addresses: createPublicAddresses(["127.0.0.0/8"]),
    resolve: createResolve(),
    connectMs: 1000,
    quietMs: 1000,
    ...bounds,
  });
  closing.push(close);
  await expect(fetch("http://127.0.0.1:1/elsewhere")).rejects.toThrow("the only origin");
});
