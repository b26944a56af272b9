import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { FolderSelect } from "./FolderSelect.tsx";

interface NewArticleDialogProps {
  readonly workspaceId: string;
  readonly folderId: string | undefined;
  readonly onClose: () => void;
}

/** Creates an article, empty or from a template of the workspace, and opens it. */
export function NewArticleDialog({ workspaceId, folderId: givenFolderId, onClose }: NewArticleDialogProps) {
  const [title, setTitle] = useState("");
  const [folderId, setFolderId] = useState(givenFolderId ?? null);
  const [templateId, setTemplateId] = useState("");
  const [variables, setVariables] = useState<Readonly<Record<string, string>>>({});
  const { data: templates } = useQuery(trpc.templates.list.queryOptions({ workspaceId, sort: "name" }));
  const template = templates?.templates.find((listed) => listed.templateId === templateId);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    meta: { showsError: true },
    mutationFn: () =>
      client.articles.create.mutate({
        workspaceId,
        title: title.trim(),
        ...(folderId === null ? {} : { folderId }),
        ...(template === undefined ? {} : { templateId, variables }),
      }),
    async onSuccess({ articleId }) {
      onClose();
      await queryClient.invalidateQueries(trpc.articles.list.pathFilter());
      await navigate({ to: "/w/$workspaceId/articles/$articleId", params: { workspaceId, articleId } });
    },
  });
  const faults = faultsOf(create.error);
  const rest = restOf(create.error, ["title", "folderId"]);
  return (
    <Dialog title="New article" isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
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
        <FolderSelect workspaceId={workspaceId} value={folderId} fault={faults.folderId} onChange={setFolderId} />
        {templates !== undefined && templates.templates.length > 0 && (
          <Field label="Template" isOptional>
            {(control) => (
              <select {...control} className={controlClass} value={templateId} onChange={({ target }) => setTemplateId(target.value)}>
                <option value="">Empty article</option>
                {templates.templates.map((listed) => (
                  <option key={listed.templateId} value={listed.templateId}>
                    {listed.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {template?.variables.map(({ name, label, required }) => (
          <TextField
            key={name}
            label={label}
            required={required}
            isOptional={!required}
            value={variables[name] ?? ""}
            onChange={({ target }) => setVariables({ ...variables, [name]: target.value })}
          />
        ))}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={create.isPending}>
            Create article
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
