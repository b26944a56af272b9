import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Folder } from "../../../api/schema/folder.ts";
import { client, trpc } from "../app/data.ts";
import { toOptions, toTree } from "../app/folders.ts";
import { Button } from "../ui/button.tsx";
import { Check } from "../ui/check.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../ui/form.tsx";
import { ProblemLine } from "../ui/problem.tsx";

interface FolderDialogProps {
  readonly workspaceId: string;
  /** The folder to change; undefined for a new one. */
  readonly folder: Folder | undefined;
  readonly parentFolderId: string | null;
  readonly folders: readonly Folder[];
  readonly onClose: () => void;
}

const fields = ["name", "parentFolderId"];

/** Creates a folder, or changes its name, its place, and whether it is a content project. */
export function FolderDialog({ workspaceId, folder, parentFolderId, folders, onClose }: FolderDialogProps) {
  const [name, setName] = useState(folder?.name ?? "");
  const [parent, setParent] = useState(parentFolderId);
  const project = folder?.contentProject;
  const [isProject, setIsProject] = useState(project !== undefined);
  const [approvesOutline, setApprovesOutline] = useState(project?.requireOutlineApproval ?? true);
  const [approvesDraft, setApprovesDraft] = useState(project?.requireDraftApproval ?? true);
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn() {
      const contentProject = isProject
        ? { ...project, requireOutlineApproval: approvesOutline, requireDraftApproval: approvesDraft }
        : undefined;
      const values = { name: name.trim(), parentFolderId: parent };
      if (folder === undefined)
        return client.folders.create.mutate({ workspaceId, ...values, ...(contentProject === undefined ? {} : { contentProject }) });
      return client.folders.update.mutate({ folderId: folder.folderId, ...values, contentProject: contentProject ?? null });
    },
    async onSuccess() {
      await queryClient.invalidateQueries(trpc.folders.pathFilter());
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const rest = restOf(save.error, fields);
  const places = toOptions(toTree(folders)).filter(({ folderId }) => folderId !== folder?.folderId);
  return (
    <Dialog title={folder === undefined ? "New folder" : "Folder"} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField
          label="Name"
          required
          autoFocus
          maxLength={200}
          value={name}
          fault={faults.name}
          onChange={(event) => setName(event.target.value)}
        />
        <Field label="In" fault={faults.parentFolderId}>
          {(control) => (
            <select
              {...control}
              className={controlClass}
              value={parent ?? ""}
              onChange={(event) => setParent(event.target.value === "" ? null : event.target.value)}
            >
              <option value="">Top level</option>
              {places.map(({ folderId, path }) => (
                <option key={folderId} value={folderId}>
                  {path}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Check label="Content project: topics belong to this folder" isOn={isProject} onChange={setIsProject} />
        {isProject && (
          <div className="ml-6">
            <Check
              label="A person approves each outline before its draft is written"
              isOn={approvesOutline}
              onChange={setApprovesOutline}
            />
            <Check label="A person approves each draft" isOn={approvesDraft} onChange={setApprovesDraft} />
          </div>
        )}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={save.isPending}>
            {folder === undefined ? "Create folder" : "Save"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
