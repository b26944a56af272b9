/**
 * The one gate for addresses that a caller gives: asked when a webhook is made, when it is changed, and before
 * each attempt. What passes comes with the addresses that were checked, and only those may be dialled, so that
 * nothing can be swapped between check and connection.
 *
 * The text is parsed once by the WHATWG parser, which turns every disguise of an address (decimal, octal, hex,
 * full-width digits, mapped forms) into its plain form; after that only numbers decide, never the look of a name.
 */
import { AppError } from "../../api/schema/error.ts";
import { blockedPorts } from "./blockedPorts.ts";
import { startDeadline } from "./deadline.ts";
import type { PublicAddresses } from "./publicAddress.ts";
import type { Resolve } from "./resolver.ts";

export interface PublicUrl {
  readonly url: URL;
  /** Host without brackets or final dot: for SNI, and for the certificate to be checked against. */
  readonly hostname: string;
  readonly port: number;
  /** Every address of the host, all of them checked; at least one. */
  readonly addresses: readonly string[];
}

/** Refuses with `validation_failed`, `url_not_https`, `url_not_public` or `url_unresolvable` (all 422). */
export type CheckPublicUrl = (text: string, signal?: AbortSignal) => Promise<PublicUrl>;

type UrlRefusal = "validation_failed" | "url_not_https" | "url_not_public" | "url_unresolvable";

function refuse(code: UrlRefusal, detail: string): never {
  throw new AppError(code, detail, { errors: [{ pointer: "/url", code, message: detail }] });
}

function parse(text: string, maxLength: number): URL {
  if (text.length > maxLength) refuse("validation_failed", `The url must be at most ${maxLength} characters long.`);
  // The parser drops these in silence; what is stored and shown must be what is called.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
  if (/[\u0000-\u0020\u007f]/.test(text)) refuse("validation_failed", "The url must not contain spaces or control characters.");
  const url = URL.canParse(text) ? new URL(text) : refuse("validation_failed", "The url must be an absolute https URL.");
  if (url.protocol !== "https:") refuse("url_not_https", "The url must use https.");
  if (url.username !== "" || url.password !== "") refuse("validation_failed", "The url must not contain a user name or password.");
  return url;
}

export function createCheckPublicUrl({
  addresses: judge,
  resolve,
  maxLength,
  resolveTimeoutMs,
}: {
  addresses: PublicAddresses;
  resolve: Resolve;
  maxLength: number;
  resolveTimeoutMs: number;
}): CheckPublicUrl {
  async function toAddresses(hostname: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const deadline = startDeadline(resolveTimeoutMs, signal);
    try {
      return await resolve(hostname, deadline.signal);
    } catch (error) {
      if (deadline.passed) return [];
      throw error;
    } finally {
      deadline.clear();
    }
  }

  return async (text, signal) => {
    const url = parse(text, maxLength);
    const port = url.port === "" ? 443 : Number(url.port);
    const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
    const isLiteral = url.hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
    const found = isLiteral ? [hostname] : await toAddresses(hostname, signal);
    if (found.length === 0) refuse("url_unresolvable", "The host of the url could not be resolved to an address.");
    for (const address of found) {
      if (!judge.isPublic(address)) refuse("url_not_public", "Every address of the url's host must be public.");
      if (blockedPorts.has(port) && !judge.isAllowed(address)) refuse("url_not_public", `Port ${port} is not open to outbound requests.`);
    }
    return { url, hostname, port, addresses: found };
  };
}
