/** SourceFetch reads the document at an address, when the work of its conversion begins. */
import type { Limits } from "../../../api/limits.ts";
import { type ErrorCode, errorTable } from "../../../api/schema/error.ts";
import type { ConversionContext } from "../../../machines/conversion.ts";
import type { OutboundAnswer, OutboundFetch } from "../../platform/outbound/fetch.ts";
import { formatOfMediaType } from "./formats.ts";

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export type FetchedSource = { readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly error: Failure };

/** Reads `source.url`. Only the abort of `signal` is thrown. */
export type SourceFetch = (url: string, context: ConversionContext, signal: AbortSignal) => Promise<FetchedSource>;

/** Room for the head and the framing of an answer. */
const headBytes = 64 * 1024;

export function createSourceFetch(
  fetch: OutboundFetch,
  limits: Pick<Limits, "conversion.input" | "conversion.fetchMs" | "webhook.connectMs">,
): SourceFetch {
  const maxBytes = limits["conversion.input"];
  return async (url, context, signal) => {
    const outcome = await fetch({
      url,
      method: "GET",
      headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": "svc-conversions/1" },
      totalMs: limits["conversion.fetchMs"],
      connectMs: limits["webhook.connectMs"],
      maxResponseBytes: maxBytes + headBytes,
      signal,
    });
    if (outcome.kind === "withheld") throw new Error("a request without a condition was withheld");
    if (outcome.kind === "failed") {
      const { reason } = outcome;
      const code = errorTable.has(reason as ErrorCode) ? reason : "conversion_failed";
      return failed(`The address could not be read: ${reason.replaceAll("_", " ")}.`, code);
    }
    return judge(outcome, context, maxBytes);
  };
}

function judge(answer: OutboundAnswer, { from, isFormatGiven }: ConversionContext, maxBytes: number): FetchedSource {
  const { status, headers, body, isComplete } = answer;
  if (status < 200 || status > 299) return failed(`The address answered with status ${status}. Redirects are not followed.`);
  if (body.length > maxBytes) return failed(`The document at the address has more than ${maxBytes} bytes.`, "payload_too_large");
  if (!isComplete) return failed("The answer of the address was cut off.");
  if (headers["content-encoding"] !== undefined) return failed("The address answered with compressed content, which was not asked for.");
  const mediaType = String(headers["content-type"] ?? "");
  const found = formatOfMediaType(mediaType);
  if (isFormatGiven !== true && found !== undefined && found !== from && found !== "txt") {
    return failed(`The address answered with ${found}, not ${from}. Name the format in source.format.`);
  }
  return { ok: true, bytes: body };
}

function failed(message: string, code = "conversion_failed"): FetchedSource {
  return { ok: false, error: { code, message } };
}
