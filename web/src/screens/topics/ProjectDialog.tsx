import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, trpc } from "../../app/data.ts";
import { toOptions, toTree, useFolders } from "../../app/folders.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { Check } from "../../ui/check.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { controlClass, Field, faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";

interface ProjectDialogProps {
  readonly onClose: () => void;
  /** Called with the folder that is a content project now. */
  readonly onDone: (folderId: string) => void;
}

/** Makes a folder a content project: one that exists, or a new one. */
export function ProjectDialog({ onClose, onDone }: ProjectDialogProps) {
  const { workspaceId } = useWorkspace();
  const { data: folders } = useFolders(workspaceId);
  const [folderId, setFolderId] = useState("");
  const [name, setName] = useState("");
  const [requireOutlineApproval, setRequireOutlineApproval] = useState(true);
  const [requireDraftApproval, setRequireDraftApproval] = useState(true);
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn() {
      const contentProject = { requireOutlineApproval, requireDraftApproval };
      return folderId === ""
        ? client.folders.create.mutate({ workspaceId, name: name.trim(), contentProject })
        : client.folders.update.mutate({ folderId, contentProject });
    },
    async onSuccess(folder) {
      await queryClient.invalidateQueries(trpc.folders.pathFilter());
      onDone(folder.folderId);
    },
  });
  const rest = restOf(save.error, ["name"]);
  const ordinary = (folders ?? []).filter(({ contentProject }) => contentProject === undefined);
  const paths = toOptions(toTree(folders ?? [])).filter((option) => ordinary.some((folder) => folder.folderId === option.folderId));
  return (
    <Dialog
      title="Content project"
      lead="A folder whose topics belong together. Its settings decide what people approve."
      isOpen
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        {ordinary.length > 0 && (
          <Field label="Folder">
            {(control) => (
              <select {...control} className={controlClass} value={folderId} onChange={({ target }) => setFolderId(target.value)}>
                <option value="">A new folder</option>
                {paths.map((option) => (
                  <option key={option.folderId} value={option.folderId}>
                    {option.path}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {folderId === "" && (
          <TextField
            label="Name"
            required
            autoFocus
            maxLength={200}
            value={name}
            fault={faultsOf(save.error).name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <Check
          label="A person approves each outline before its draft is written"
          isOn={requireOutlineApproval}
          onChange={setRequireOutlineApproval}
        />
        <Check label="A person approves each draft" isOn={requireDraftApproval} onChange={setRequireDraftApproval} />
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={save.isPending}>
            {folderId === "" ? "Create the project" : "Make it a content project"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
