/**
 * `findHeadFault` finds ambiguities in the request line and the headers, in the same way on every host (HO30 to HO33).
 *
 * If a proxy and the server read one request differently, an attacker can hide a second request in it (request
 * smuggling). If a header value loses bytes, two different requests can look the same. Such requests are refused and
 * never repaired.
 */
import { type HeaderName, readHeaders } from "./port.ts";

export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names and values of the headers that the server reads alternate. */
  readonly headers: readonly string[];
}

const readNames: ReadonlyMap<string, HeaderName> = new Map(readHeaders.map((name) => [name, name]));
const methodToken = /^[A-Z][A-Z-]{0,31}$/;
const unprintable = /[^\x21-\x7e]/;
const unprintableInValue = /[^\t\x20-\x7e]/;
/** Browsers send the cookies of every service at this host, whatever they contain. A cookie of this service is printable. */
const freeTextHeader = "cookie";
/** Value of the header `host`: a name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
const hostSyntax = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i;
const lengthSyntax = /^\d{1,15}$/;
/** Headers that must not be sent twice, because a proxy and the server could use different ones. */
const single = ["host", "content-length", "transfer-encoding"];
const [hostBit, lengthBit, encodingBit] = [1, 2, 4];

/**
 * Returns the name if the server reads headers of this name, which must be in lower case. The returned string is always the
 * same object, so it compares faster than a name from the network.
 */
export function toReadName(name: string): HeaderName | undefined {
  return readNames.get(name);
}

/** Returns the fault as one sentence for the client, or undefined without a fault. */
export function findHeadFault({ method, path, query, headers }: RequestHead): string | undefined {
  if (!methodToken.test(method)) return "The method must be a word in upper case.";
  if (unprintable.test(path) || (query !== "" && unprintable.test(query))) {
    return "The path and the query must be printable ASCII; percent-encode other characters.";
  }
  let seen = 0;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const value = headers[at + 1] ?? "";
    if (name !== freeTextHeader && unprintableInValue.test(value)) return `The header ${name} must be printable ASCII.`;
    const place = single.indexOf(name);
    if (place === -1) continue;
    if ((seen & (1 << place)) !== 0) return `The header ${name} was sent twice.`;
    seen |= 1 << place;
    const fault = faultOfSingle(name, value);
    if (fault !== undefined) return fault;
  }
  if ((seen & hostBit) === 0) return "The header host is missing.";
  if ((seen & lengthBit) !== 0 && (seen & encodingBit) !== 0) return "Send content-length or transfer-encoding, not both.";
  return undefined;
}

function faultOfSingle(name: string, value: string): string | undefined {
  if (name === "host") return hostSyntax.test(value) ? undefined : "The header host must be a name or an address, with or without a port.";
  if (name === "content-length") return lengthSyntax.test(value) ? undefined : "The header content-length must be a whole number.";
  return value.toLowerCase() === "chunked" ? undefined : "The header transfer-encoding must be chunked.";
}
