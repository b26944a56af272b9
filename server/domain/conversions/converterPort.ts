/**
 * ConverterPort is the boundary between the conversion service, which owns records and access, and the converter, which
 * owns formats. The converter knows neither the store nor the network.
 */
import type { ConversionFidelity, ConversionInputFormat, ConversionOutputFormat } from "../../../api/schema/conversion.ts";

export interface ConversionInput {
  readonly from: ConversionInputFormat;
  readonly to: ConversionOutputFormat;
  readonly bytes: Uint8Array;
  /** Title of the document, for formats that have a place for it (HTML, DOCX, PDF). */
  readonly title?: string;
  /** Ends the work: the child process is killed. */
  readonly signal?: AbortSignal;
  /** Called when the converter is free for this document. The document is not converted if it returns false. */
  readonly begin?: () => Promise<boolean>;
}

export type ConversionOutcome =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly contentType: string; readonly fidelity: ConversionFidelity }
  | { readonly ok: false; readonly code: "conversion_failed"; readonly detail: string };

export interface Converter {
  /**
   * Converts one document. A broken document throws no error: `detail` of the outcome says what is wrong and where. The error
   * `unavailable` means that the converter cannot work at the moment, whatever the document.
   */
  convert(input: ConversionInput): Promise<ConversionOutcome>;
  /** Version of formats and libraries; part of the key of cached outputs, so that a new version converts anew. */
  readonly version: string;
  close(): Promise<void>;
}
