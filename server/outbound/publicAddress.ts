/**
 * Which addresses the server may dial on behalf of a caller. Decided by numeric ranges only: names, notations and
 * registries of "bad hosts" are not its business. Whatever is not plainly public unicast is refused, and so is
 * every IPv6 form that embeds an IPv4 address, whether or not the embedded one is public (OB2).
 *
 * Ranges that the operator allows (`OUTBOUND_ALLOW_CIDRS`) count as public.
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [ipaddr.IPv4, number] | readonly [ipaddr.IPv6, number];

export interface PublicAddresses {
  /** Public unicast, or allowed. Text that is no address is not public. */
  isPublic(address: string): boolean;
  /** In one of the operator's ranges: no other rule applies to it. */
  isAllowed(address: string): boolean;
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; anything else is a `RangeError`. */
export function parseCidr(text: string): Range {
  const range = text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`;
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(range)) return ipaddr.IPv4.parseCIDR(range);
  if (ipaddr.IPv6.isValidCIDR(range)) return ipaddr.IPv6.parseCIDR(range);
  throw new RangeError(`${JSON.stringify(text)} is not an address range such as 10.0.0.0/8 or fd00::/8`);
}

/** The only IPv6 space that is given out for the public internet … */
const globalUnicast = parseCidr("2000::/3");
/** … less what is set aside in it: protocol assignments (Teredo among them), documentation, 6to4. */
const setAside = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map(parseCidr);
/** Unicast by its range, but a cloud's metadata service to the machines inside it. */
const metadata = parseCidr("168.63.129.16");

function parse(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

function contains(range: Range, address: Address): boolean {
  return range[0].kind() === address.kind() && address.match(range as never);
}

function isPublicUnicast(address: Address): boolean {
  if (address.range() !== "unicast" || contains(metadata, address)) return false;
  if (address.kind() === "ipv4") return true;
  return contains(globalUnicast, address) && !setAside.some((range) => contains(range, address));
}

export function createPublicAddresses(allowedCidrs: readonly string[] = []): PublicAddresses {
  const allowed = allowedCidrs.map(parseCidr);

  function isAllowed(text: string): boolean {
    const address = parse(text);
    return address !== undefined && allowed.some((range) => contains(range, address));
  }

  return {
    isAllowed,
    isPublic(text) {
      const address = parse(text);
      return address !== undefined && (isPublicUnicast(address) || isAllowed(text));
    },
  };
}
