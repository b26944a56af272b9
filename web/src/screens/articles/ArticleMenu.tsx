import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Article } from "../../../../api/schema/article.ts";
import { client, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { IconButton } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { MoreIcon } from "../../ui/icons.tsx";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ChangeArticleDialog } from "./ChangeArticleDialog.tsx";

interface ArticleMenuProps {
  readonly article: Article;
  readonly isTrash: boolean;
  /** Called after the article went to the trash. */
  readonly onTrashed?: () => void;
}

/** What can be done with a whole article. */
export function ArticleMenu({ article, isTrash, onTrashed }: ArticleMenuProps) {
  const { articleId, title } = article;
  const { workspaceId, isAdmin } = useWorkspace();
  const [open, setOpen] = useState<"change" | "delete">();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => queryClient.invalidateQueries(trpc.articles.pathFilter());

  const restore = useMutation({ mutationFn: () => client.articles.undelete.mutate({ articleId }), onSuccess: refresh });
  const trash = useMutation({
    mutationFn: () => client.articles.delete.mutate({ articleId }),
    async onSuccess() {
      onTrashed?.();
      noticeStore.trigger.show({
        kind: "done",
        text: `“${title}” is in the trash.`,
        action: { label: "Undo", run: () => restore.mutate() },
      });
      await refresh();
    },
  });
  const duplicate = useMutation({
    mutationFn: () => client.articles.duplicate.mutate({ articleId }),
    async onSuccess(copy) {
      await refresh();
      await navigate({ to: "/w/$workspaceId/articles/$articleId", params: { workspaceId, articleId: copy.articleId } });
    },
  });

  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${title}`}>
            <MoreIcon />
          </IconButton>
        }
      >
        {isTrash ? (
          <>
            <MenuItem onSelect={() => restore.mutate()}>Restore</MenuItem>
            {isAdmin && (
              <MenuItem isDangerous onSelect={() => setOpen("delete")}>
                Delete permanently…
              </MenuItem>
            )}
          </>
        ) : (
          <>
            <MenuItem onSelect={() => setOpen("change")}>Rename or move…</MenuItem>
            <MenuItem onSelect={() => duplicate.mutate()}>Duplicate</MenuItem>
            <MenuLine />
            <MenuItem isDangerous onSelect={() => trash.mutate()}>
              Move to the trash
            </MenuItem>
          </>
        )}
      </Menu>
      {open === "change" && <ChangeArticleDialog article={article} onClose={() => setOpen(undefined)} />}
      <Question
        title={`Delete “${title}” permanently?`}
        lead="Its text, its history, its reviews and its public page are deleted. This cannot be undone."
        action="Delete permanently"
        isDangerous
        isOpen={open === "delete"}
        onClose={() => setOpen(undefined)}
        onConfirm={async () => {
          await client.articles.delete.mutate({ articleId, permanent: true });
          await refresh();
        }}
      />
    </>
  );
}
