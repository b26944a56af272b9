import { toOptions, toTree, useFolders } from "../../app/folders.ts";
import { controlClass, Field } from "../../ui/form.tsx";

interface FolderSelectProps {
  readonly workspaceId: string;
  readonly value: string | null;
  readonly fault?: string | undefined;
  readonly onChange: (folderId: string | null) => void;
}

export function FolderSelect({ workspaceId, value, fault, onChange }: FolderSelectProps) {
  const { data } = useFolders(workspaceId);
  return (
    <Field label="Folder" fault={fault}>
      {(control) => (
        <select
          {...control}
          className={controlClass}
          value={value ?? ""}
          onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
        >
          <option value="">No folder</option>
          {toOptions(toTree(data ?? [])).map(({ folderId, path }) => (
            <option key={folderId} value={folderId}>
              {path}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
