/** `toStatusLine` formats an HTTP status with its reason phrase, such as "409 Conflict", for HTTP and for pages. */
import { STATUS_CODES } from "node:http";

const statusLines = new Map(Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]));

/** A status without a registered reason phrase is formatted as its number only. */
export function toStatusLine(status: number): string {
  return statusLines.get(status) ?? String(status);
}
