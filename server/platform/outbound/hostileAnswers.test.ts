import { channel } from "node:diagnostics_channel";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type CertificateAuthority, createCertificateAuthority } from "../../../test/support/certificateAuthority.ts";
import { type EndlessAnswer, endlessAnswers, type HostileReceiver, startHostileReceiver } from "../../../test/support/hostileReceiver.ts";
import { createOutboundFetch, type OutboundOutcome } from "./fetch.ts";
import { createProviderFetch, type ProviderFetchOptions } from "./providerFetch.ts";
import { createPublicAddresses } from "./publicAddress.ts";
import { createCheckPublicUrl } from "./publicUrl.ts";

const maxResponseBytes = 16 * 1024;
/** Allows for a certificate, session tickets, and the data that the kernel delivers at once. */
const maxReadBytes = maxResponseBytes + 160 * 1024;

let authority: CertificateAuthority;
let secureContext: SecureContext;
let receiver: HostileReceiver;
let answer: EndlessAnswer;
/** Connections that this process has opened. */
const dialled: Socket[] = [];
const remember = (message: unknown) => void dialled.push((message as { socket: Socket }).socket);

beforeAll(async () => {
  authority = await createCertificateAuthority();
  secureContext = await authority.secureContext();
  receiver = await startHostileReceiver(() => answer, authority);
});
beforeEach(() => {
  dialled.length = 0;
  channel("net.client.socket").subscribe(remember);
});
afterEach(() => void channel("net.client.socket").unsubscribe(remember));
afterAll(async () => {
  await receiver.close();
  await authority.remove();
});

function call(given: EndlessAnswer): Promise<OutboundOutcome> {
  answer = given;
  const addresses = createPublicAddresses(["127.0.0.0/8"]);
  const checkUrl = createCheckPublicUrl({ addresses, resolve: async () => [], maxLength: 2048, resolveTimeoutMs: 1000 });
  return createOutboundFetch({ checkUrl, secureContext })({
    url: `https://127.0.0.1:${receiver.port}/hook`,
    method: "POST",
    headers: {},
    body: "{}",
    totalMs: 5000,
    connectMs: 5000,
    maxResponseBytes,
    signal: new AbortController().signal,
  });
}

async function expectLittleRead(): Promise<void> {
  await expect.poll(() => receiver.openConnections, { timeout: 10_000 }).toBe(0);
  expect(dialled.length).toBe(1);
  expect(dialled[0]?.bytesRead).toBeGreaterThan(1000);
  expect(dialled[0]?.bytesRead).toBeLessThanOrEqual(maxReadBytes);
}

test.each(Object.entries(endlessAnswers))("[OB9] %s: reading stops at the limit, and the attempt fails", async (_what, endless) => {
  expect(await call(endless)).toEqual({ kind: "failed", reason: "answer_too_long" });
  await expectLittleRead();
});

test("[OB9] a body beyond the limit is left unread, and the status counts", async () => {
  const outcome = await call({ start: "HTTP/1.1 201 Made\r\ncontent-length: 99999999999\r\n\r\n", repeated: "body ".repeat(13_000) });
  expect(outcome).toMatchObject({ kind: "answered", status: 201 });
  const bodyBytes = outcome.kind === "answered" ? outcome.body.length : 0;
  expect(bodyBytes).toBeGreaterThan(maxResponseBytes - 100);
  expect(bodyBytes).toBeLessThanOrEqual(maxResponseBytes);
  await expectLittleRead();
});

function createProvider(baseUrl: string, limits: Pick<ProviderFetchOptions, "maxBytes" | "maxLineBytes" | "maxReceivedBytes">) {
  const addresses = createPublicAddresses(["127.0.0.0/8"]);
  return createProviderFetch({ baseUrl, addresses, resolve: async () => [], connectMs: 5000, quietMs: 10_000, ...limits });
}

/** Resolves with the address of the server. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(Object.entries(endlessAnswers))("[OB10] %s from a model's endpoint: reading stops at the limit", async (_what, endless) => {
  const endpoint = await startHostileReceiver(() => endless);
  const maxReceivedBytes = 2 * 1024 * 1024;
  const provider = createProvider(`http://127.0.0.1:${endpoint.port}`, { maxBytes: 1024 * 1024, maxLineBytes: 1000, maxReceivedBytes });
  try {
    const asking = provider.fetch(`http://127.0.0.1:${endpoint.port}/v1`, { signal: AbortSignal.timeout(8000) });
    await expect(asking.then((response) => response.text())).rejects.toThrow(/fetch failed|terminated/);
    await expect.poll(() => endpoint.openConnections, { timeout: 10_000 }).toBe(0);
    expect(dialled[0]?.bytesRead).toBeLessThanOrEqual(maxReceivedBytes + 64 * 1024);
  } finally {
    await provider.close();
    await endpoint.close();
  }
});

test("[OB10] each answer of a model's endpoint has its own limit", async () => {
  const server = createServer((_request, response) => void response.end("x".repeat(1500)));
  const baseUrl = await listen(server);
  const provider = createProvider(baseUrl, { maxBytes: 2000, maxLineBytes: 2000, maxReceivedBytes: 2000 });
  try {
    for (let n = 0; n < 3; n += 1) expect(await (await provider.fetch(baseUrl)).text()).toHaveLength(1500);
  } finally {
    await provider.close();
    server.close();
  }
});

test("[OP52] a long line ends a provider's answer at any place in the received bytes", async () => {
  const long = "y".repeat(101);
  const good = "x".repeat(100);
  const answers = new Map<string, readonly string[]>([
    ["/good", [`${good}\n${good}\n`, `${"x".repeat(60)}`, `${"x".repeat(40)}\n\n${good}`]],
    ["/first", [`${long}\nx\n`]],
    ["/middle", [`x\n${long}\nx\n`]],
    ["/last", [`x\n${long}`]],
    ["/divided", [`x\n${"y".repeat(60)}`, `${"y".repeat(41)}\nx`]],
  ]);
  const server = createServer(async (request, response) => {
    for (const piece of answers.get(request.url ?? "") ?? []) await new Promise<void>((sent) => response.write(piece, () => sent()));
    response.end();
  });
  const baseUrl = await listen(server);
  const provider = createProvider(baseUrl, { maxBytes: 2000, maxLineBytes: 100, maxReceivedBytes: 4000 });
  try {
    for (const [path, pieces] of answers) {
      const text = provider.fetch(baseUrl + path).then((response) => response.text());
      if (path === "/good") expect(await text).toBe(pieces.join(""));
      else await expect(text, path).rejects.toThrow("a line of its answer is longer than 100 bytes");
    }
  } finally {
    await provider.close();
    server.close();
  }
});
