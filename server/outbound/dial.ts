/**
 * One TLS connection to an address that was checked. The addresses are handed in, so nothing is looked up here and
 * nothing can change between check and connection; the name is for SNI and the certificate alone.
 */
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";
import type { PublicUrl } from "./publicUrl.ts";

/** Resolves when the handshake is done and the certificate holds. Rejects with the network's error or the signal's reason. */
export async function dial(target: PublicUrl, signal: AbortSignal, secureContext?: SecureContext): Promise<TLSSocket> {
  const entries = target.addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const isLiteral = target.addresses[0] === target.hostname;
  const tcp = connectTcp({
    host: target.hostname,
    port: target.port,
    lookup: (_hostname, _options, done) => done(null, entries),
    noDelay: true,
    autoSelectFamily: true,
    // Node's default of 250 ms gives up on distant receivers whenever a host has several addresses.
    autoSelectFamilyAttemptTimeout: 2000,
  });
  await opened(tcp, "connect", signal);
  // A literal never meets the look-up, so the peer itself is compared, before a single byte is sent.
  const peer = toCanonical(tcp.remoteAddress ?? "");
  if (peer === undefined || !entries.some((entry) => toCanonical(entry.address) === peer)) {
    tcp.destroy();
    throw new Error("connected to an unchecked address");
  }
  const tls = connectTls({
    socket: tcp,
    host: target.hostname,
    // An address has no place in SNI; without it the certificate is checked against `host`.
    ...(isLiteral ? {} : { servername: target.hostname }),
    ...(secureContext === undefined ? {} : { secureContext }),
    ALPNProtocols: ["http/1.1"],
  });
  await opened(tls, "secureConnect", signal);
  return tls;
}

/** One spelling for each address: hosts files and the system write IPv6 differently. */
function toCanonical(address: string): string | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : undefined;
}

async function opened(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  try {
    await once(socket, event, { signal });
  } catch (error) {
    // Errors that come after this one have nobody to tell.
    socket.on("error", () => {});
    socket.destroy();
    throw error;
  }
}
