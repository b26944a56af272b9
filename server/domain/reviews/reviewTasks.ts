/** The text tasks of reviews as plain functions, which run inline or in a worker thread. */
import { placeQuotes, type Quoted } from "./anchorPlaces.ts";
import { findHandlesIn } from "./handles.ts";

type Parse = (markdown: string) => object;

/** The parser is loaded at the first call. */
async function createParser(): Promise<Parse> {
  const [{ unified }, { default: parse }, { default: gfm }] = await Promise.all([
    import("unified"),
    import("remark-parse"),
    import("remark-gfm"),
  ]);
  const processor = unified().use(parse).use(gfm);
  return (markdown) => processor.parse(markdown);
}

let parser: Promise<Parse> | undefined;

export const reviewTasks = {
  async findHandles(markdown: string): Promise<readonly string[]> {
    parser ??= createParser();
    const parse = await parser;
    return findHandlesIn(parse(markdown), markdown);
  },
  placeQuotes: ({ text, quotes }: { text: string; quotes: readonly Quoted[] }) => placeQuotes(text, quotes),
} as const;
