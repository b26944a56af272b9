import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Article } from "../../../../api/schema/article.ts";
import { client, trpc } from "../../app/data.ts";

/** The title in the bar, which can be changed in place: Enter keeps the new one, Escape the old one. */
export function TitleField({ article, isReadOnly }: { readonly article: Article; readonly isReadOnly: boolean }) {
  const { articleId, title } = article;
  const [typed, setTyped] = useState(title);
  useEffect(() => setTyped(title), [title]);
  const queryClient = useQueryClient();
  const rename = useMutation({
    mutationFn: (next: string) => client.articles.update.mutate({ articleId, title: next }),
    onSuccess: () => queryClient.invalidateQueries(trpc.articles.pathFilter()),
    onError: () => setTyped(title),
  });
  function keep(): void {
    const next = typed.trim();
    if (next === "") setTyped(title);
    else if (next !== title) rename.mutate(next);
  }
  return (
    <h1 className="min-w-0">
      <input
        aria-label="Title"
        dir="auto"
        value={typed}
        maxLength={500}
        readOnly={isReadOnly}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={keep}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.nativeEvent.isComposing) event.currentTarget.blur();
          if (event.key === "Escape") {
            setTyped(title);
            setTimeout(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
          }
        }}
        className="w-full truncate rounded-sm bg-transparent px-1 py-0.5 text-base font-semibold"
      />
    </h1>
  );
}
