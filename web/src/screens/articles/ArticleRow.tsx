import { Link } from "@tanstack/react-router";
import type { Article } from "../../../../api/schema/article.ts";
import type { Folder } from "../../../../api/schema/folder.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { GlobeIcon } from "../../ui/icons.tsx";
import { Time } from "../../ui/time.tsx";
import { ArticleMenu } from "./ArticleMenu.tsx";

interface ArticleRowProps {
  readonly article: Article;
  readonly folder: Folder | undefined;
  readonly isTrash: boolean;
}

const words = new Intl.NumberFormat();
const modes = { live: "Live", snapshot: "Snapshot", expired: "Expired" } as const;

export function ArticleRow({ article, folder, isTrash }: ArticleRowProps) {
  const { workspaceId, canWrite } = useWorkspace();
  const { articleId, title, wordCount, publicLink, updatedBy, updatedAt } = article;
  return (
    <div className="group relative flex h-full items-center gap-3 border-b border-line px-3 hover:bg-side md:px-5">
      <Link
        to="/w/$workspaceId/articles/$articleId"
        params={{ workspaceId, articleId }}
        className="min-w-0 grow rounded-sm after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
      >
        <span className="block truncate text-base font-medium">
          <bdi>{title}</bdi>
        </span>
        <span className="block truncate text-xs text-muted">
          {folder !== undefined && <>{folder.name} · </>}
          {words.format(wordCount)} {wordCount === 1 ? "word" : "words"}
        </span>
      </Link>
      {publicLink !== undefined && (
        <span className="flex shrink-0 items-center gap-1 text-xs text-muted">
          <GlobeIcon className={publicLink.state === "expired" ? "text-faint" : "text-ok"} />
          {modes[publicLink.state]}
        </span>
      )}
      <span className="hidden w-44 shrink-0 items-center justify-end gap-2 text-xs text-muted sm:flex">
        <Time at={updatedAt} />
        <Avatar username={updatedBy} size="small" />
      </span>
      <span className="relative z-10">{canWrite && <ArticleMenu article={article} isTrash={isTrash} />}</span>
    </div>
  );
}
