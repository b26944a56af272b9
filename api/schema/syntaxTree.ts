/**
 * Defines the syntax tree of a document as JSON: mdast with the nodes of GitHub's Markdown, footnotes, front matter and formulas.
 *
 * The shape is closed: an unknown node or field is refused. Positions are not part of it.
 */
import { z } from "zod";

const text = z.string();
const optionalText = z.string().nullable().optional();
const reference = { identifier: text, label: optionalText };
const referenceType = z.enum(["shortcut", "collapsed", "full"]);

const literals = [
  z.strictObject({ type: z.literal("text"), value: text }),
  z.strictObject({ type: z.literal("inlineCode"), value: text }),
  z.strictObject({ type: z.literal("inlineMath"), value: text }),
  z.strictObject({ type: z.literal("html"), value: text }),
  z.strictObject({ type: z.literal("break") }),
  z.strictObject({ type: z.literal("image"), url: text, title: optionalText, alt: optionalText }),
  z.strictObject({ type: z.literal("imageReference"), ...reference, referenceType, alt: optionalText }),
  z.strictObject({ type: z.literal("footnoteReference"), ...reference }),
] as const;

/** Inline content. */
const phrasing: z.ZodType = z.lazy(() =>
  z.discriminatedUnion("type", [
    ...literals,
    z.strictObject({ type: z.literal("emphasis"), children: phrasings }),
    z.strictObject({ type: z.literal("strong"), children: phrasings }),
    z.strictObject({ type: z.literal("delete"), children: phrasings }),
    z.strictObject({ type: z.literal("link"), url: text, title: optionalText, children: phrasings }),
    z.strictObject({ type: z.literal("linkReference"), ...reference, referenceType, children: phrasings }),
  ]),
);
const phrasings = z.array(phrasing);

const listItem = z.strictObject({
  type: z.literal("listItem"),
  checked: z.boolean().nullable().optional(),
  spread: z.boolean().nullable().optional(),
  children: z.lazy(() => z.array(block)),
});

const tableRow = z.strictObject({
  type: z.literal("tableRow"),
  children: z.array(z.strictObject({ type: z.literal("tableCell"), children: phrasings })),
});

/** Block content. */
const block: z.ZodType = z.lazy(() =>
  z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("paragraph"), children: phrasings }),
    z.strictObject({ type: z.literal("heading"), depth: z.number().int().min(1).max(6), children: phrasings }),
    z.strictObject({ type: z.literal("thematicBreak") }),
    z.strictObject({ type: z.literal("blockquote"), children: z.array(block) }),
    z.strictObject({
      type: z.literal("list"),
      ordered: z.boolean().nullable().optional(),
      start: z.number().int().min(0).max(999_999_999).nullable().optional(),
      spread: z.boolean().nullable().optional(),
      children: z.array(listItem),
    }),
    z.strictObject({ type: z.literal("code"), lang: optionalText, meta: optionalText, value: text }),
    z.strictObject({ type: z.literal("math"), meta: optionalText, value: text }),
    z.strictObject({ type: z.literal("html"), value: text }),
    z.strictObject({ type: z.literal("definition"), ...reference, url: text, title: optionalText }),
    z.strictObject({ type: z.literal("footnoteDefinition"), ...reference, children: z.array(block) }),
    z.strictObject({
      type: z.literal("table"),
      align: z
        .array(z.enum(["left", "right", "center"]).nullable())
        .nullable()
        .optional(),
      children: z.array(tableRow),
    }),
    z.strictObject({ type: z.literal("yaml"), value: text }),
  ]),
);

export const syntaxTree = z.strictObject({ type: z.literal("root"), children: z.array(block) });
