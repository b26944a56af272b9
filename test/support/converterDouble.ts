/** A converter for tests of the service: it repeats the text with its formats, or does what the test says. */
import type { ConversionFormats } from "../../api/schema/conversion.ts";
import type { ConversionInput, ConversionOutcome, Converter } from "../../server/domain/conversions/converterPort.ts";

export const doublePairs: ConversionFormats["pairs"] = [
  { from: "markdown", to: "markdown", lossless: true },
  { from: "markdown", to: "html", lossless: false },
  { from: "markdown", to: "pdf", lossless: false },
  { from: "html", to: "markdown", lossless: false },
  { from: "txt", to: "markdown", lossless: true },
  { from: "docx", to: "markdown", lossless: false },
];

export const noLosses = { score: 1, losses: [] };

export interface ConverterDouble extends Converter {
  /** The inputs so far. */
  readonly inputs: ConversionInput[];
  /** Resolves when the converter is free for an input. */
  untilFree: (input: ConversionInput) => Promise<void>;
  /** Answers later inputs. By default `<from> to <to>: <text>`. */
  answer: (input: ConversionInput) => Promise<ConversionOutcome>;
}

export function succeedWith(text: string): ConversionOutcome {
  return { ok: true, bytes: Buffer.from(text), contentType: "text/markdown", fidelity: noLosses };
}

export function createConverterDouble(version = "double-1"): ConverterDouble {
  const inputs: ConversionInput[] = [];
  const double: ConverterDouble = {
    inputs,
    version,
    untilFree: async () => {},
    answer: async ({ from, to, bytes }) => succeedWith(`${from} to ${to}: ${Buffer.from(bytes)}`),
    async convert(input) {
      await double.untilFree(input);
      const isBegun = (await input.begin?.()) ?? true;
      if (!isBegun) return { ok: false, code: "conversion_failed", detail: "given up" };
      inputs.push(input);
      return double.answer(input);
    },
    close: async () => {},
  };
  return double;
}
