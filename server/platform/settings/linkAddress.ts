/**
 * LinkAddress decides which address links contain when `BASE_URL` is not set.
 *
 * A server that listens on all addresses (`0.0.0.0`, `::`) uses its first private address, which other machines on the
 * same network can open. The Host header of a request is never used, because the sender of a request could choose it,
 * and links are stored, sent in webhooks and signed into tokens (OP34).
 */
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

type Interfaces = ReturnType<typeof networkInterfaces>;

const loopback = "127.0.0.1";
const privateRanges: ReadonlySet<string> = new Set(["private", "carrierGradeNat", "linkLocal", "uniqueLocal"]);

/** True for loopback, given as a host name or as an address without brackets. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || rangeOf(name) === "loopback";
}

/**
 * True for an address that the public internet does not route: RFC 1918, RFC 6598, link-local and unique local
 * addresses.
 */
export function isPrivateAddress(host: string): boolean {
  return privateRanges.has(rangeOf(host) ?? "");
}

/** Plain http is allowed with loopback and private addresses only. */
export function allowsPlainHttp(host: string): boolean {
  return isLoopback(host) || isPrivateAddress(host);
}

/**
 * True for every other address except the unspecified one; reserved ranges count as public. A host name is not an
 * address.
 */
export function isPublicAddress(host: string): boolean {
  return ipaddr.isValid(host) && !allowsPlainHttp(host) && rangeOf(host) !== "unspecified";
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Returns the origin of a host and a port, without a slash at the end. */
export function toHttpOrigin({ host, port }: Endpoint): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Returns the origin for links of a server that listens on `host` and `port`, without a slash at the end. `warning` is
 * present if other machines can reach the server but cannot open these links.
 */
export function toLinkAddress(
  { host, port }: Endpoint,
  interfaces: Interfaces = networkInterfaces(),
): { readonly origin: string; readonly warning?: string } {
  if (host !== "0.0.0.0" && host !== "::") return { origin: toHttpOrigin({ host, port }) };
  const address = firstPrivateAddress(interfaces, host);
  if (address !== undefined) return { origin: toHttpOrigin({ host: address, port }) };
  return {
    origin: toHttpOrigin({ host: loopback, port }),
    warning: `HOST=${host}, and this machine has no private address: links say ${loopback} and open on this machine only. Set BASE_URL.`,
  };
}

/**
 * Prefers IPv4, because `0.0.0.0` does not listen on IPv6. Link-local addresses are skipped, because links to them need
 * the name of an interface.
 */
function firstPrivateAddress(interfaces: Interfaces, host: "0.0.0.0" | "::"): string | undefined {
  const addresses = Object.values(interfaces)
    .flatMap((found = []) => found)
    .filter(({ internal, address }) => !internal && isPrivateAddress(address) && rangeOf(address) !== "linkLocal")
    .map(({ address }) => address);
  const ipv4 = addresses.find((address) => !address.includes(":"));
  return ipv4 ?? (host === "::" ? addresses[0] : undefined);
}

/** `ipaddr.process` converts an IPv4-mapped IPv6 address to the IPv4 address. */
function rangeOf(host: string): string | undefined {
  return ipaddr.isValid(host) ? ipaddr.process(host).range() : undefined;
}
