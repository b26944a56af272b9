/** ConversionJob is the job of the child process: one document in, one document or the reason of a refusal out. */
import type { ConversionFidelity } from "../../../api/schema/conversion.ts";
import type { ChildJob } from "../../platform/workers/childJobs.ts";
import type { ConversionCaps } from "./engine/caps.ts";
import { ConversionFailure } from "./engine/failure.ts";
import { type ConversionOrder, convert } from "./runConversion.ts";

export interface ConversionJobHead extends ConversionOrder {
  readonly caps: ConversionCaps;
}

export type ConversionJobResult =
  | { readonly kind: "converted"; readonly contentType: string; readonly fidelity: ConversionFidelity }
  | { readonly kind: "refused"; readonly detail: string };

export const runConversionJob: ChildJob = async (head, bytes) => {
  const { caps, ...order } = head as ConversionJobHead;
  try {
    const { bytes: output, contentType, fidelity } = await convert(order, bytes, caps);
    return { head: { kind: "converted", contentType, fidelity } satisfies ConversionJobResult, bytes: output };
  } catch (error) {
    if (!(error instanceof ConversionFailure)) throw error;
    return { head: { kind: "refused", detail: error.message } satisfies ConversionJobResult, bytes: new Uint8Array() };
  }
};
