/** Defines the formats of conversions and the report of a conversion's losses. */
import { z } from "zod";

export const conversionInputFormats = ["markdown", "html", "docx", "pdf", "txt", "json"] as const;
export const conversionOutputFormats = ["markdown", "html", "docx", "pdf", "txt", "json"] as const;

export const conversionInputFormat = z.enum(conversionInputFormats);
export const conversionOutputFormat = z.enum(conversionOutputFormats);

export const conversionFidelity = z.strictObject({
  score: z.number().min(0).max(1),
  losses: z.array(z.strictObject({ construct: z.string(), count: z.number().int(), lines: z.array(z.number().int()) })),
});

export type ConversionInputFormat = z.infer<typeof conversionInputFormat>;
export type ConversionOutputFormat = z.infer<typeof conversionOutputFormat>;
export type ConversionFidelity = z.infer<typeof conversionFidelity>;
