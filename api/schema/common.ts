/** Defines schemas that several resources share: timestamps, names, free-form objects and the query of lists. */
import { z } from "zod";
import { defaultLimits } from "../limits.ts";

/** A string with the description and the example that the OpenAPI document shows. */
export function text(description: string, example: string) {
  return z.string().meta({ description, example });
}

/** A number with a description and an example, like `text`. */
export function number(description: string, example: number) {
  return z.number().meta({ description, example });
}

/** An integer with a description and an example, like `text`. */
export function int(description: string, example: number) {
  return z.int().meta({ description, example });
}

/** A boolean with a description and an example, like `text`. */
export function flag(description: string, example: boolean) {
  return z.boolean().meta({ description, example });
}

/**
 * A time in the content part of the API: Unix seconds with millisecond precision. `what` describes the time in one
 * sentence.
 */
export function unixSeconds(what: string) {
  return number(`${what} Unix seconds with fractions, to the millisecond.`, 1_795_219_200.125);
}

/**
 * A time in the integration part of the API: ISO 8601 in UTC with milliseconds. `what` describes the time in one
 * sentence.
 */
export function isoTime(what: string) {
  return z.iso
    .datetime({ precision: 3 })
    .meta({ description: `${what} ISO 8601 text in UTC with milliseconds.`, example: "2026-11-21T00:00:00.125Z" });
}

/** Converted to lower case before it is compared. A username is unique, never changes and is never reused. */
export const Username = z
  .string()
  .toLowerCase()
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,36}[a-z0-9])?$/,
    "must be 1 to 38 of a-z, 0-9, '.', '_' and '-', starting and ending with a letter or digit",
  )
  .meta({
    description: "Username: 1 to 38 characters of a-z, 0-9, `.`, `_` and `-`. Case is ignored. A username never changes.",
    example: "ana",
  });

/** The username of an account in an answer. */
export const username = (description: string) => text(description, "ana");

export const Password = z
  .string()
  .min(10)
  .max(200)
  .meta({ description: "Password, 10 to 200 characters.", example: "correct horse battery" });

/** One line of text for people: trimmed, not empty, without control characters. */
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

/** An object with any JSON values. `body.freeForm` limits its size and `body.freeFormDepth` its depth. */
export const FreeForm = z.record(z.string(), z.json()).meta({
  id: "FreeForm",
  description: `An object with any members; at most ${defaultLimits["body.freeForm"] / 1024} KiB as JSON and ${defaultLimits["body.freeFormDepth"]} levels deep.`,
  example: { tone: "plain" },
});

/** A query parameter that may be repeated. Several values mean OR. */
export function oneOrMore<Item extends z.ZodType>(item: Item, description: string) {
  return z.array(item).min(1).max(20).describe(description).optional();
}

/** The token of the next page, as a page of a list contains it. */
export const nextToken = text(
  "Token of the next page: repeat the request with this token and the same filters. Absent on the last page.",
  "eyJ2IjoxfQ",
).optional();

/** Query fields of a list: the page size, and the opaque `nextToken` of the previous page. */
export const pageQuery = {
  /** The schema has no upper bound, because the `LIMITS` setting can raise `list.limitMax`. */
  limit: z
    .int()
    .min(1)
    .meta({
      description: `Number of items on a page: ${defaultLimits["list.limitDefault"]} by default, at most ${defaultLimits["list.limitMax"]} unless the server has another limit. A page can have fewer items and still have a \`nextToken\`.`,
      example: 20,
    })
    .optional(),
  nextToken: z
    .string()
    .max(2048)
    .meta({
      description: "The `nextToken` of the previous page. It is valid for 24 hours and only with the same filters.",
      example: "eyJ2IjoxfQ",
    })
    .optional(),
};
