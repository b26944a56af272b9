import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ArticleFile, Article as LiveArticle } from "../../../../client/article.ts";
import { client, trpc } from "../../app/data.ts";
import { ProblemView } from "../../ui/problem.tsx";
import { toPreviewDocument } from "./previewDocument.ts";

interface PagePreviewProps {
  readonly articleId: string;
  readonly live: LiveArticle;
  readonly file: ArticleFile;
}

/** The preview follows the text after a pause of this length. */
const settleMs = 600;

/** The text as readers see it: rendered and sanitised by the server, in a frame that runs no script. */
export function PagePreview({ articleId, live, file }: PagePreviewProps) {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function later(): void {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (live.state.status === "saving") later();
        else setVersion((before) => before + 1);
      }, settleMs);
    }
    live.doc.on("update", later);
    return () => {
      clearTimeout(timer);
      live.doc.off("update", later);
    };
  }, [live]);

  const { data, error, refetch } = useQuery({
    queryKey: [...trpc.content.get.queryKey({ articleId, file, format: "html" }), version],
    queryFn: async ({ signal }) => {
      const answer = await client.content.get.query({ articleId, file, format: "html" }, { signal });
      return toPreviewDocument(answer.content);
    },
    placeholderData: (before) => before,
    gcTime: 0,
  });
  if (error !== null && data === undefined) return <ProblemView error={error} onRetry={() => void refetch()} />;
  return (
    <iframe
      title="The page as readers see it"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      srcDoc={data ?? ""}
      className="h-full w-full bg-[#fff]"
    />
  );
}
