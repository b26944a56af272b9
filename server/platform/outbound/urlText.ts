/**
 * readUrl parses a URL and refuses text that another parser could read as a different address.
 *
 * Clients, proxies and log tools read a stored URL again with their own parsers. The WHATWG parser repairs its input:
 * it treats a backslash as a slash, drops tabs, and turns full-width or hexadecimal digits into an address. A parser
 * that does not repair finds another host in the same text, so such text is refused here and never repaired.
 */
import { domainToUnicode } from "node:url";

export type UrlReading = { readonly kind: "url"; readonly url: URL } | { readonly kind: "refused"; readonly detail: string };

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const misread = /[\u0000-\u0020\u007f\\\p{Surrogate}]/u;
const authorityPattern = /^https?:\/\/([^/?#]+)/i;
const hostPattern = /^(\[.*\]|[^:]*)(?::\d*)?$/;

function refuse(detail: string): UrlReading {
  return { kind: "refused", detail };
}

/** Parses a URL. URLs with other schemes than http and https are parsed but not checked. Store `url.href`. */
export function readUrl(text: string): UrlReading {
  if (misread.test(text)) return refuse("The url must not contain spaces, control characters, backslashes or unpaired surrogates.");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return refuse("The url must be an absolute https URL, such as https://example.com/hook.");
  if (url.protocol !== "https:" && url.protocol !== "http:") return { kind: "url", url };
  const authority = authorityPattern.exec(text)?.[1];
  if (authority === undefined) return refuse(`The url must have two slashes and then a host after ${url.protocol}`);
  if (authority.includes("@")) return refuse("The url must not contain a user name or password.");
  const host = hostPattern.exec(authority)?.[1] ?? "";
  if (!isPlainHost(host, url.hostname)) return refuse(`The url's host must be written in its plain form: ${url.hostname}`);
  return { kind: "url", url };
}

/**
 * True if the parser kept the host as written, apart from letter case and the Unicode form of an internationalised
 * name.
 */
function isPlainHost(written: string, read: string): boolean {
  // All spellings of an IPv6 address mean the same number, and the parser refuses zone ids.
  if (read.startsWith("[")) return true;
  const name = written.normalize("NFC").toLowerCase();
  return name === read || name === domainToUnicode(read);
}
