/**
 * CheckPublicUrl decides whether a URL from a caller may be requested: when a webhook is created or changed, and before
 * each attempt.
 *
 * The result contains the checked addresses. Only these may be connected to, so nothing can change between check and
 * connection. Text that parsers read differently is refused (urlText.ts). After that only the numeric addresses decide,
 * never the spelling of a name.
 */
import { AppError } from "../../../api/schema/error.ts";
import { blockedPorts } from "./blockedPorts.ts";
import { startDeadline } from "./deadline.ts";
import type { PublicAddresses } from "./publicAddress.ts";
import type { Resolve } from "./resolver.ts";
import { readUrl } from "./urlText.ts";

export interface PublicUrl {
  /** `url.href` is the normalised form, which must be stored. */
  readonly url: URL;
  /** Host without brackets or final dot, for SNI and for the certificate check. */
  readonly hostname: string;
  readonly port: number;
  /** Every address of the host, all checked. At least one. */
  readonly addresses: readonly string[];
}

/** Refuses with `validation_failed`, `url_not_https`, `url_not_public` or `url_unresolvable` (all 422). */
export type CheckPublicUrl = (text: string, signal?: AbortSignal) => Promise<PublicUrl>;

type UrlRefusal = "validation_failed" | "url_not_https" | "url_not_public" | "url_unresolvable";

function refuse(code: UrlRefusal, detail: string): never {
  throw new AppError(code, detail, { errors: [{ pointer: "/url", code, message: detail }] });
}

function tooLong(maxLength: number): string {
  return `The url must be at most ${maxLength} characters long, as given and percent-encoded.`;
}

function parse(text: string, maxLength: number): URL {
  if (text.length > maxLength) refuse("validation_failed", tooLong(maxLength));
  const reading = readUrl(text);
  if (reading.kind === "refused") refuse("validation_failed", reading.detail);
  const { url } = reading;
  // The normalised form is stored and checked again before each attempt.
  if (url.href.length > maxLength) refuse("validation_failed", tooLong(maxLength));
  if (url.protocol !== "https:") refuse("url_not_https", "The url must use https.");
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
