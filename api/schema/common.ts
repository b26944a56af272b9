/** Pieces that several resources share: timestamps, names, free-form objects, the list query. */
import { z } from "zod";
import { defaultLimits } from "../limits.ts";

/** Unix seconds, millisecond precision (content side). */
export const UnixSeconds = z.number();

/** ISO 8601 UTC with milliseconds, `2026-11-21T00:00:00.000Z` (integration side). */
export const IsoTime = z.iso.datetime({ precision: 3 });

/** Lower-cased before it is compared; unique, never changed, never reused. */
export const Username = z
  .string()
  .toLowerCase()
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,36}[a-z0-9])?$/,
    "must be 1 to 38 of a-z, 0-9, '.', '_' and '-', starting and ending with a letter or digit",
  );

export const Password = z.string().min(10).max(200);

/** A line of text for people: no control characters, not blank, trimmed. */
export function Line(maxCharacters: number) {
  return (
    z
      .string()
      .trim()
      .min(1)
      .max(maxCharacters)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
      .regex(/^[^\u0000-\u001f\u007f]*$/, "must not contain control characters")
  );
}

/** String keys, any JSON values; size and depth are bounded by `body.freeForm` and `body.freeFormDepth`. */
export const FreeForm = z.record(z.string(), z.json()).meta({ id: "FreeForm" });

/** Page size and the opaque continuation token of a list (`nextToken` of the page before). */
export const pageQuery = {
  /** The upper bound is the server's `list.limitMax`, which its limits may raise. */
  limit: z
    .int()
    .min(1)
    .meta({ description: `Items on a page; at most ${defaultLimits["list.limitMax"]} unless the server is set otherwise` })
    .optional(),
  nextToken: z.string().max(2048).optional(),
};
