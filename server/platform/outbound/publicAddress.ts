/**
 * PublicAddresses decides which addresses the server may connect to on behalf of a caller.
 *
 * Only numeric ranges decide; names, notations and lists of bad hosts play no role. Every address that is not clearly
 * public unicast is refused. So is every IPv6 form that embeds an IPv4 address, even if the embedded address is public
 * (OB2). Ranges that the operator allows (`OUTBOUND_ALLOW_CIDRS`) count as public.
 */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [ipaddr.IPv4, number] | readonly [ipaddr.IPv6, number];

export interface PublicAddresses {
  /** True if the address is public unicast or allowed. Text that is not an address is not public. */
  isPublic(address: string): boolean;
  /** True if the address is in one of the operator's ranges. No other rule applies to such an address. */
  isAllowed(address: string): boolean;
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address. Throws a `RangeError` for any other text. */
export function parseCidr(text: string): Range {
  const range = text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`;
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(range)) return ipaddr.IPv4.parseCIDR(range);
  if (ipaddr.IPv6.isValidCIDR(range)) return ipaddr.IPv6.parseCIDR(range);
  throw new RangeError(`${JSON.stringify(text)} is not an address range such as 10.0.0.0/8 or fd00::/8`);
}

/** The only IPv6 range that is assigned for the public internet. `excludedRanges` lists the exceptions in it. */
const globalUnicast = parseCidr("2000::/3");
/** Reserved parts of `globalUnicast`: protocol assignments (including Teredo), documentation and 6to4. */
const excludedRanges = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map(parseCidr);
/** A unicast address by its range, but some clouds serve metadata to their virtual machines at this address. */
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
  return contains(globalUnicast, address) && !excludedRanges.some((range) => contains(range, address));
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
