/** ConversionView is a conversion as the API shows it, with the facts that its answers state in headers and statuses. */
import type { Conversion } from "../../../api/schema/conversion.ts";
import type { Stored } from "../../platform/storage/port.ts";
import { type ConversionRecord, hasEnded, toConversion, writtenArticleOf } from "./records.ts";

export interface ConversionView {
  readonly conversion: Conversion;
  /** Revision of the record. */
  readonly revision: number;
  readonly hasEnded: boolean;
  /** The article that has the Markdown, if the request named a target and the conversion succeeded. */
  readonly writtenArticleId: string | undefined;
}

/** `baseUrl` has no trailing slash. */
export function toConversionView({ value, revision }: Stored<ConversionRecord>, nowMs: number, baseUrl: string): ConversionView {
  return {
    conversion: toConversion(value, nowMs, baseUrl),
    revision,
    hasEnded: hasEnded(value),
    writtenArticleId: writtenArticleOf(value, nowMs),
  };
}
