/** Converts the text of single settings to values. Each function returns `undefined` if the text is not valid. */
import { isIP } from "node:net";
import { parseCidr } from "../outbound/publicAddress.ts";
import { readUrl } from "../outbound/urlText.ts";
import { allowsPlainHttp } from "./linkAddress.ts";

const maxPauseSeconds = 30 * 24 * 3600;
const fiveDaysMs = 5 * 24 * 3_600_000;

export function toHost(text: string): string | undefined {
  return isIP(text) !== 0 || /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(text)
    ? text
    : undefined;
}

function toBareUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  return bare ? url : undefined;
}

/** Returns an origin: https with any host, http only with a loopback or private host. */
export function toBaseUrl(text: string): string | undefined {
  const url = toBareUrl(text);
  if (url === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return url.protocol === "https:" || allowsPlainHttp(host) ? url.origin : undefined;
}

/** Returns the URL of a service that the operator has configured. It may have a path and has no slash at the end. */
export function toServiceUrl(text: string): string | undefined {
  const reading = readUrl(text);
  if (reading.kind === "refused") return undefined;
  const { url } = reading;
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  return url.href.replace(/\/+$/, "");
}

export function toOrigin(text: string): string | undefined {
  return toBareUrl(text)?.origin;
}

/** Accepts 64 hexadecimal digits, or base64 in either alphabet, with or without padding. */
export function toKey(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return new Uint8Array(Buffer.from(text, "hex"));
  return /^[\w+/-]{43}=?$/.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
}

export function toCidr(text: string): string | undefined {
  try {
    parseCidr(text);
    return text;
  } catch {
    return undefined;
  }
}

export function toScheduleMs(text: string): number | undefined {
  const seconds = /^\d+(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  return seconds <= maxPauseSeconds ? Math.round(seconds * 1000) : undefined;
}

export function toAutoDisable(text: string): { readonly onGone: boolean; readonly afterFailingMs?: number } | undefined {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length === 1 && parts[0] === "off") return { onGone: false };
  if (parts.some((part) => part !== "410" && part !== "5d")) return undefined;
  return { onGone: parts.includes("410"), ...(parts.includes("5d") ? { afterFailingMs: fiveDaysMs } : {}) };
}
