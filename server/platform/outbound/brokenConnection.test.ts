/** Tests peers that break the connection at the end of the TLS handshake, before an HTTP client listens for errors. */
import { channel } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type CertificateAuthority, createCertificateAuthority } from "../../../test/support/certificateAuthority.ts";
import { startTamperingReceiver, type Tampering, type TamperingReceiver } from "../../../test/support/tamperingReceiver.ts";
import { createOutboundFetch, type OutboundOutcome } from "./fetch.ts";
import { createProviderFetch } from "./providerFetch.ts";
import { createPublicAddresses } from "./publicAddress.ts";
import { createCheckPublicUrl } from "./publicUrl.ts";

/** Index of the server's flight that completes the client's handshake. */
const lastFlights = { "TLSv1.2": 2, "TLSv1.3": 1 } as const;
const versions = ["TLSv1.2", "TLSv1.3"] as const;
const tamperings: Readonly<Record<string, { readonly tampering: Tampering; readonly reason: string }>> = {
  "bytes that are no TLS record": { tampering: Buffer.from("GARBAGE!GARBAGE!GARBAGE!"), reason: "tls_failed" },
  "a plain fatal alert": { tampering: Buffer.from([21, 3, 3, 0, 2, 2, 80]), reason: "tls_failed" },
  "a record that does not decrypt": { tampering: Buffer.from([23, 3, 3, 0, 32, ...Buffer.alloc(32, 7)]), reason: "tls_failed" },
  "a TCP reset": { tampering: "reset", reason: "connection_reset" },
};
const cases = versions.flatMap((version) => Object.entries(tamperings).map(([what, given]) => ({ version, what, ...given })));

let authority: CertificateAuthority;
let secureContext: SecureContext;
let receiver: TamperingReceiver;
/** Connections that this process has opened. */
const dialled: Socket[] = [];
const remember = (message: unknown) => void dialled.push((message as { socket: Socket }).socket);
const uncaught: unknown[] = [];
const rememberUncaught = (error: unknown) => void uncaught.push(error);

beforeAll(async () => {
  authority = await createCertificateAuthority();
  secureContext = await authority.secureContext();
});
beforeEach(() => {
  dialled.length = 0;
  uncaught.length = 0;
  channel("net.client.socket").subscribe(remember);
  process.on("uncaughtException", rememberUncaught);
});
afterEach(async () => {
  process.off("uncaughtException", rememberUncaught);
  channel("net.client.socket").unsubscribe(remember);
  vi.unstubAllEnvs();
  await receiver.close();
});
afterAll(() => authority.remove());

/** The first connection belongs to the client, the second one to the proxy. */
const isClientClosed = () => dialled[0]?.closed;

async function expectNothingUncaught(): Promise<void> {
  await expect.poll(() => isClientClosed()).toBe(true);
  await expect.poll(() => receiver.openConnections).toBe(0);
  expect(uncaught).toEqual([]);
}

function call(isStillWanted: () => Promise<boolean>): Promise<OutboundOutcome> {
  const addresses = createPublicAddresses(["127.0.0.0/8"]);
  const checkUrl = createCheckPublicUrl({ addresses, resolve: async () => [], maxLength: 2048, resolveTimeoutMs: 1000 });
  return createOutboundFetch({ checkUrl, secureContext })({
    url: `https://127.0.0.1:${receiver.port}/hook`,
    method: "POST",
    headers: {},
    body: "{}",
    totalMs: 20_000,
    connectMs: 20_000,
    maxResponseBytes: 16 * 1024,
    signal: new AbortController().signal,
    isStillWanted,
  });
}

describe("fetch", () => {
  test.each(cases)("[OB13] $what with the end of a $version handshake is a failed attempt", async ({ version, tampering, reason }) => {
    receiver = await startTamperingReceiver({ authority, version, tampering, afterFlight: lastFlights[version] });
    expect(await call(async () => true)).toEqual({ kind: "failed", reason });
    await expectNothingUncaught();
  });

  test.each(cases)("[OB13] $what while the caller decides after a $version handshake is a failed attempt", async (given) => {
    const { version, tampering, reason } = given;
    receiver = await startTamperingReceiver({ authority, version, tampering });
    const outcome = await call(async () => {
      receiver.tamper();
      await expect.poll(() => isClientClosed()).toBe(true);
      return true;
    });
    expect(outcome).toEqual({ kind: "failed", reason });
    await expectNothingUncaught();
  });

  test.each(versions)("[OB13] a receiver behind the same proxy that leaves %s intact is answered", async (version) => {
    receiver = await startTamperingReceiver({ authority, version, tampering: "reset" });
    expect(await call(async () => true)).toMatchObject({ kind: "answered", status: 200 });
    await expectNothingUncaught();
  });
});

describe("providerFetch", () => {
  test.each(cases)("[OB14] $what with the end of a model's $version handshake is a failed request", async ({ version, tampering }) => {
    // The provider fetch trusts the process's own root certificates, and a running process cannot add one.
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    receiver = await startTamperingReceiver({ authority, version, tampering, afterFlight: lastFlights[version] });
    const baseUrl = `https://127.0.0.1:${receiver.port}`;
    const provider = createProviderFetch({
      baseUrl,
      addresses: createPublicAddresses(["127.0.0.0/8"]),
      resolve: async () => [],
      connectMs: 20_000,
      quietMs: 20_000,
      maxBytes: 2000,
      maxLineBytes: 2000,
      maxReceivedBytes: 2000,
    });
    try {
      await expect(provider.fetch(baseUrl)).rejects.toThrow("fetch failed");
      await expectNothingUncaught();
    } finally {
      await provider.close();
    }
  });
});
