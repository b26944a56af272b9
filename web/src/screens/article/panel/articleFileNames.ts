import type { ArticleFile } from "../../../../../api/schema/article.ts";

/** The files of an article as people call them. */
export const articleFileNames = { "content.md": "Text", "outline.md": "Outline", "research.md": "Research" } as const satisfies Record<
  ArticleFile,
  string
>;
