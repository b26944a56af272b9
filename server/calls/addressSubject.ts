/**
 * Whose rate bucket a network address draws from. One subscriber holds a whole /64 of IPv6 (RFC 6177), so that
 * counts as one: its addresses are endless, and a limit by address alone would bind nobody.
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
