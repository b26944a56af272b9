import { useQuery } from "@tanstack/react-query";
import type { Article, ArticleFile } from "../../../../api/schema/article.ts";
import { trpc } from "../../app/data.ts";
import type { Statistics } from "../../editor/index.ts";

const number = new Intl.NumberFormat();

interface TextFooterProps {
  readonly article: Article;
  /** The file whose length is shown. The topic says the length of `content.md`. */
  readonly file: ArticleFile;
  readonly statistics: Statistics | undefined;
}

/** Length of the text, and the length that its topic asks for. */
export function TextFooter({ article, file, statistics }: TextFooterProps) {
  const { topicId, workspaceId } = article;
  const { data: topic } = useQuery({
    ...trpc.topics.get.queryOptions({ topicId: topicId ?? "", workspaceId }),
    enabled: topicId !== undefined,
  });
  if (statistics === undefined) return null;
  const { words, characters, readingMinutes } = statistics;
  const range = file === "content.md" ? topic?.wordCountRange : undefined;
  const isOutside = range !== undefined && (words < range.min || words > range.max);
  return (
    <footer className="flex h-7 shrink-0 items-center gap-4 border-t border-line px-4 text-xs text-muted">
      <span className={isOutside ? "text-warn" : ""}>
        {number.format(words)} {words === 1 ? "word" : "words"}
        {range !== undefined && ` of ${number.format(range.min)} to ${number.format(range.max)}`}
      </span>
      <span className="hidden sm:inline">{number.format(characters)} characters</span>
      <span className="hidden sm:inline">{Math.max(1, Math.round(readingMinutes))} min to read</span>
    </footer>
  );
}
