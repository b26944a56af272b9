import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedApiKey } from "../../../../api/schema/apiKey.ts";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { RadioGroup, SelectField } from "../../ui/choices.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { TextArea } from "../../ui/prose.tsx";
import { type Access, accesses, expiryOf, type Lifetime, lifetimes, today } from "./keyTexts.ts";
import { WorkspaceChecks } from "./WorkspaceChecks.tsx";

interface NewKeyDialogProps {
  readonly onCreated: (key: CreatedApiKey) => void;
  readonly onClose: () => void;
}

const fields = ["name", "description", "scopes", "workspaceIds", "expiresAt"];
const accessOptions = (["full", "conversions"] as const).map((value) => ({ value, ...accesses[value] }));
const reaches = [
  { value: "all", label: "All workspaces that you can open" },
  { value: "some", label: "Only some workspaces" },
] as const;

export function NewKeyDialog({ onCreated, onClose }: NewKeyDialogProps) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [access, setAccess] = useState<Access>("full");
  const [reach, setReach] = useState<"all" | "some">("all");
  const [workspaceIds, setWorkspaceIds] = useState<readonly string[]>([]);
  const [isMissing, setIsMissing] = useState(false);
  const [lifetime, setLifetime] = useState<Lifetime>("90");
  const [date, setDate] = useState("");
  const queryClient = useQueryClient();
  const create = useMutation({
    meta: { showsError: true },
    mutationFn() {
      const { scopes } = accesses[access];
      const expiresAt = expiryOf(lifetime, date, Date.now());
      return client.keys.create.mutate({
        name: name.trim(),
        ...(description.trim() === "" ? {} : { description: description.trim() }),
        ...(scopes === undefined ? {} : { scopes: [...scopes] }),
        ...(reach === "all" ? {} : { workspaceIds: [...workspaceIds] }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      });
    },
    onSuccess(created) {
      void queryClient.invalidateQueries(trpc.keys.pathFilter());
      onCreated(created);
    },
  });
  const faults = faultsOf(create.error);
  const rest = restOf(create.error, fields);
  const noWorkspace = reach === "some" && workspaceIds.length === 0;
  return (
    <Dialog title="New API key" lead="Its value is shown once, after it is created." isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setIsMissing(noWorkspace);
          if (!noWorkspace) create.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField
          label="Name"
          hint="What uses the key, such as “Build server”."
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
        <RadioGroup label="Access" value={access} options={accessOptions} fault={faults.scopes} onChange={setAccess} />
        <RadioGroup label="Workspaces" value={reach} options={reaches} fault={faults.workspaceIds} onChange={setReach} />
        {reach === "some" && (
          <WorkspaceChecks
            values={workspaceIds}
            fault={isMissing && noWorkspace ? "Choose at least one workspace." : undefined}
            onChange={setWorkspaceIds}
          />
        )}
        <SelectField label="Expires" value={lifetime} options={lifetimes} fault={faults.expiresAt} onChange={setLifetime} />
        {lifetime === "date" && (
          <TextField
            label="Last day"
            type="date"
            required
            min={today(Date.now())}
            value={date}
            onChange={(event) => setDate(event.target.value)}
          />
        )}
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={create.isPending}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
