/** Defines the schemas of the full-text search. */
import { z } from "zod";
import { number, text, unixSeconds } from "./common.ts";
import { idText } from "./id.ts";

/** Kinds of records that a search covers. A domain that adds a source adds its name here. */
export const searchNames = ["articles", "topics"] as const;
export const SearchName = z.enum(searchNames).meta({ id: "SearchName", description: "Kind of records that a search looks through." });
export type SearchName = z.infer<typeof SearchName>;

export const SearchKind = z.enum(["article", "topic"]).meta({ id: "SearchKind", description: "Kind of the record that was found." });
export type SearchKind = z.infer<typeof SearchKind>;

export const SearchHit = z
  .strictObject({
    kind: SearchKind,
    id: text("Id of the record that was found.", "art_01KAHX0000050123456789ABCD"),
    articleId: idText("art", "The article that was found, or the article of the topic.").optional(),
    topicId: idText("top", "The topic that was found, or the topic of the article.").optional(),
    title: text("Title of the record as it is now. It is plain text, not HTML.", "How a draft survives a power cut"),
    snippet: text(
      "Part of the text as HTML: the words that were found are in `<mark>` elements, and everything else is escaped. The beginning of the text if only the title has the words.",
      "A draft is safe only once it is <mark>flushed</mark> to disk.",
    ),
    score: number("Relevance in this answer: 1 for the best hit, above 0 for every other.", 0.62),
    updatedAt: unixSeconds("When the record last changed."),
  })
  .meta({ id: "SearchHit", description: "A record that a search found." });
export type SearchHit = z.infer<typeof SearchHit>;

export const SearchResponse = z
  .strictObject({ hits: z.array(SearchHit).describe("The best hits, best first.") })
  .meta({ id: "SearchResponse", description: "Result of a search." });
export type SearchResponse = z.infer<typeof SearchResponse>;
