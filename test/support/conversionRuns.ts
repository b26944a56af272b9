/** Runs the conversion engine in the process of a test, with caps that no test document reaches. */
import { defaultLimits } from "../../api/limits.ts";
import type { ConversionFidelity, ConversionInputFormat, ConversionOutputFormat } from "../../api/schema/conversion.ts";
import type { ConversionCaps } from "../../server/domain/conversions/engine/caps.ts";
import { convert } from "../../server/domain/conversions/runConversion.ts";

export const conversionCaps: ConversionCaps = {
  nodes: 10_000,
  depth: 100,
  outputBytes: 10_000_000,
  archive: { entries: 100, totalBytes: 10_000_000, entryBytes: 10_000_000, ratio: defaultLimits["archive.ratio"] },
};

export const runConversion = (from: ConversionInputFormat, to: ConversionOutputFormat, input: string | Uint8Array) =>
  convert({ from, to }, typeof input === "string" ? Buffer.from(input, "utf8") : input, conversionCaps);

export const toText = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString("utf8");

/** Number of losses by construct. */
export const lostIn = ({ losses }: ConversionFidelity) => Object.fromEntries(losses.map(({ construct, count }) => [construct, count]));
