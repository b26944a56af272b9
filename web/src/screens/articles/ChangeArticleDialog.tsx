import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Article } from "../../../../api/schema/article.ts";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { FolderSelect } from "./FolderSelect.tsx";

interface ChangeArticleDialogProps {
  readonly article: Article;
  readonly onClose: () => void;
}

/** Renames an article or moves it to another folder. */
export function ChangeArticleDialog({ article, onClose }: ChangeArticleDialogProps) {
  const [title, setTitle] = useState(article.title);
  const [folderId, setFolderId] = useState(article.folderId);
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.articles.update.mutate({ articleId: article.articleId, title: title.trim(), folderId }),
    async onSuccess() {
      await queryClient.invalidateQueries(trpc.articles.pathFilter());
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const rest = restOf(save.error, ["title", "folderId"]);
  return (
    <Dialog title="Rename or move" isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField
          label="Title"
          required
          autoFocus
          maxLength={500}
          value={title}
          fault={faults.title}
          onChange={(event) => setTitle(event.target.value)}
        />
        <FolderSelect workspaceId={article.workspaceId} value={folderId} fault={faults.folderId} onChange={setFolderId} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
