/**
 * dial opens one TLS connection to an address that was already checked.
 *
 * The caller passes the addresses. No name is resolved here, so the address cannot change between check and connection.
 * The host name is used only for SNI and the certificate check. The number of bytes read from the peer is limited from
 * the first byte.
 */
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import ipaddr from "ipaddr.js";
import { BoundedSocket } from "./boundedSocket.ts";
import type { PublicUrl } from "./publicUrl.ts";

/**
 * Bytes that TLS may add to the decrypted data: a certificate chain (OpenSSL accepts 100 KiB), session tickets and
 * record framing.
 */
const maxTlsBytes = 128 * 1024;

export interface DialOptions {
  readonly target: PublicUrl;
  readonly signal: AbortSignal;
  /** Maximum decrypted bytes. Bytes after the maximum are not read. */
  readonly maxReadBytes: number;
  /** Certificates to trust instead of Node's own roots. */
  readonly secureContext?: SecureContext | undefined;
}

/**
 * Resolves when the handshake is done and the certificate is valid. Rejects with the network's error or the signal's
 * reason.
 */
export async function dial({ target, signal, maxReadBytes, secureContext }: DialOptions): Promise<BoundedSocket> {
  const entries = target.addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const isLiteral = target.addresses[0] === target.hostname;
  const tcp = connectTcp({
    host: target.hostname,
    port: target.port,
    lookup: (_hostname, _options, done) => done(null, entries),
    noDelay: true,
    autoSelectFamily: true,
    // Node's default of 250 ms per address is too short for distant receivers when a host has several addresses.
    autoSelectFamilyAttemptTimeout: 2000,
  });
  await opened(tcp, "connect", signal);
  // Node does not look up a URL host that is an address, so compare the connected peer with the checked addresses
  // before sending the first byte.
  const peer = toCanonical(tcp.remoteAddress ?? "");
  if (peer === undefined || !entries.some((entry) => toCanonical(entry.address) === peer)) {
    tcp.destroy();
    throw new Error("connected to an address that was not checked");
  }
  const tls = connectTls({
    socket: new BoundedSocket(tcp, maxReadBytes + maxTlsBytes),
    host: target.hostname,
    // SNI does not allow addresses. Without SNI the certificate is checked against `host`.
    ...(isLiteral ? {} : { servername: target.hostname }),
    ...(secureContext === undefined ? {} : { secureContext }),
    ALPNProtocols: ["http/1.1"],
  });
  await opened(tls, "secureConnect", signal);
  return new BoundedSocket(tls, maxReadBytes);
}

/** Returns one spelling for each address, because hosts files and the system write IPv6 addresses differently. */
function toCanonical(address: string): string | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : undefined;
}

async function opened(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  // `once` removes its own error listener when it settles. The peer can cause an error right after the handshake, before
  // another listener is attached, and an error without a listener ends the process.
  socket.on("error", () => {});
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
