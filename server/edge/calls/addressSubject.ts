/**
 * `toAddressSubject` returns the rate limit subject of a network address.
 *
 * All addresses of an IPv6 /64 share one subject, because one subscriber usually holds a whole /64 (RFC 6177).
 * Otherwise a client could avoid the limit by changing its address within its /64.
 */
import ipaddr from "ipaddr.js";

const prefixParts = 4;

export function toAddressSubject(remoteAddress: string): string {
  if (!remoteAddress.includes(":") || !ipaddr.isValid(remoteAddress)) return `address:${remoteAddress}`;
  const address = ipaddr.process(remoteAddress);
  if (!(address instanceof ipaddr.IPv6)) return `address:${address}`;
  const prefix = address.parts.slice(0, prefixParts).map((part) => part.toString(16));
  return `address:${prefix.join(":")}::/64`;
}
