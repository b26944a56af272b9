import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ArticleType } from "../../../../api/schema/topic.ts";
import { client } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { articleTypes } from "./topicWords.ts";
import { renewTopics, useProjects } from "./useTopics.ts";

interface NewTopicDialogProps {
  /** The project that is chosen at first. */
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}

const fields = ["title", "targetAudience", "primaryKeyword", "articleType", "contentProjectId"];

/** Creates a topic and opens it, so that the rest of its plan can be written. */
export function NewTopicDialog({ projectId, onClose }: NewTopicDialogProps) {
  const { workspaceId } = useWorkspace();
  const projects = useProjects(workspaceId);
  const [title, setTitle] = useState("");
  const [targetAudience, setTargetAudience] = useState("");
  const [primaryKeyword, setPrimaryKeyword] = useState("");
  const [articleType, setArticleType] = useState<ArticleType>();
  const [project, setProject] = useState(projectId ?? "");
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    meta: { showsError: true },
    mutationFn: () =>
      client.topics.create.mutate({
        workspaceId,
        title: title.trim(),
        targetAudience: targetAudience.trim(),
        ...(primaryKeyword.trim() === "" ? {} : { primaryKeyword: primaryKeyword.trim() }),
        ...(articleType === undefined ? {} : { articleType }),
        ...(project === "" ? {} : { contentProjectId: project }),
      }),
    async onSuccess({ shortId }) {
      onClose();
      void renewTopics(queryClient);
      await navigate({ to: "/w/$workspaceId/topics/$topicId", params: { workspaceId, topicId: shortId } });
    },
  });
  const faults = faultsOf(create.error);
  const rest = restOf(create.error, fields);
  return (
    <Dialog title="New topic" isOpen onClose={onClose}>
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
        <TextField
          label="Audience"
          hint="Who the article is for, such as “people who run servers”."
          required
          value={targetAudience}
          fault={faults.targetAudience}
          onChange={(event) => setTargetAudience(event.target.value)}
        />
        <TextField
          label="Keyword"
          isOptional
          value={primaryKeyword}
          fault={faults.primaryKeyword}
          onChange={(event) => setPrimaryKeyword(event.target.value)}
        />
        <div className="grid gap-x-4 sm:grid-cols-2">
          <Field label="Type" isOptional fault={faults.articleType}>
            {(control) => (
              <select
                {...control}
                className={controlClass}
                value={articleType ?? ""}
                onChange={({ target }) =>
                  setArticleType((Object.keys(articleTypes) as ArticleType[]).find((type) => type === target.value))
                }
              >
                <option value="">Not decided</option>
                {Object.entries(articleTypes).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Content project" isOptional fault={faults.contentProjectId} hint="Cannot be changed later.">
            {(control) => (
              <select
                {...control}
                className={controlClass}
                disabled={projects === undefined}
                value={project}
                onChange={({ target }) => setProject(target.value)}
              >
                <option value="">None</option>
                {projects?.map(({ folderId, name }) => (
                  <option key={folderId} value={folderId}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <div className="mt-2 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={create.isPending}>
            Create topic
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
