import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiKey } from "../../../../api/schema/apiKey.ts";
import { client, trpc } from "../../app/data.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog, Question } from "../../ui/dialog.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { MoreIcon } from "../../ui/icons.tsx";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";

/** What can be done with a key: an active one is revoked first, and can be deleted then. */
export function KeyMenu({ apiKey }: { readonly apiKey: ApiKey }) {
  const { keyId, name, state } = apiKey;
  const [open, setOpen] = useState<"edit" | "revoke" | "delete">();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(trpc.keys.pathFilter());
  const close = () => setOpen(undefined);
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${name}`}>
            <MoreIcon />
          </IconButton>
        }
      >
        <MenuItem onSelect={() => setOpen("edit")}>Rename or describe…</MenuItem>
        <MenuLine />
        {state === "active" ? (
          <MenuItem isDangerous onSelect={() => setOpen("revoke")}>
            Revoke…
          </MenuItem>
        ) : (
          <MenuItem isDangerous onSelect={() => setOpen("delete")}>
            Delete…
          </MenuItem>
        )}
      </Menu>
      {open === "edit" && <EditKeyDialog apiKey={apiKey} onClose={close} />}
      {open === "revoke" && (
        <Question
          title={`Revoke “${name}”?`}
          lead="Programs that use the key are refused from their next request on, and their open connections close. A revoked key never works again."
          action="Revoke"
          isDangerous
          isOpen
          onClose={close}
          onConfirm={async () => {
            await client.keys.revoke.mutate({ keyId });
            await refresh();
          }}
        />
      )}
      {open === "delete" && (
        <Question
          title={`Delete “${name}”?`}
          lead={`The key is ${state} and no longer works. Deleting it removes it from this list.`}
          action="Delete"
          isDangerous
          isOpen
          onClose={close}
          onConfirm={async () => {
            await client.keys.delete.mutate({ keyId });
            await refresh();
          }}
        />
      )}
    </>
  );
}

function EditKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const [name, setName] = useState(apiKey.name);
  const [description, setDescription] = useState(apiKey.description ?? "");
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.keys.update.mutate({ keyId: apiKey.keyId, name: name.trim(), description: description.trim() }),
    async onSuccess() {
      await queryClient.invalidateQueries(trpc.keys.pathFilter());
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const rest = restOf(save.error, ["name", "description"]);
  return (
    <Dialog
      title="Rename or describe"
      lead="Access, workspaces and expiry of a key never change: create another key instead."
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
        <TextField
          label="Name"
          required
          autoFocus
          maxLength={120}
          value={name}
          fault={faults.name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextArea
          label="Description"
          isOptional
          maxLength={1000}
          rows={2}
          value={description}
          fault={faults.description}
          onChange={(event) => setDescription(event.target.value)}
        />
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
