import type { ReactNode } from "react";
import type { Author } from "../../../../../api/schema/article.ts";
import { Avatar } from "../../../ui/avatar.tsx";
import { Time } from "../../../ui/time.tsx";

interface BylineProps {
  readonly author: Author;
  /** Unix time in seconds. */
  readonly at: number;
  readonly isEdited: boolean;
  /** A menu at the end of the line. */
  readonly children?: ReactNode;
}

/** Who wrote a text, and when. */
export function Byline({ author: { username, kind }, at, isEdited, children }: BylineProps) {
  return (
    <div className="flex min-h-7 items-center gap-2 text-xs text-muted">
      <Avatar username={username} isAgent={kind === "agent"} size="small" />
      <span className="min-w-0 truncate text-sm font-medium text-text">{username}</span>
      {kind === "key" && <span>by API key</span>}
      <Time at={at} className="shrink-0" />
      {isEdited && <span className="shrink-0">edited</span>}
      <span className="grow" />
      {children}
    </div>
  );
}
