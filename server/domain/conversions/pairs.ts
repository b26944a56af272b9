/** Lists the pairs of formats that the converter supports: all of them. */
import { type ConversionPair, conversionInputFormats, conversionOutputFormats } from "../../../api/schema/conversion.ts";
import { isLossless } from "./engine/constructs.ts";

export const conversionPairs: readonly ConversionPair[] = conversionInputFormats.flatMap((from) =>
  conversionOutputFormats.map((to) => ({ from, to, lossless: isLossless(from, to) })),
);
