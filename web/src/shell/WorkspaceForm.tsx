import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { trpc } from "../app/data.ts";
import { Button } from "../ui/button.tsx";
import { faultsOf, restOf, TextField } from "../ui/form.tsx";
import { ProblemLine } from "../ui/problem.tsx";

/** Creates a workspace and opens it. */
export function WorkspaceForm({ onCreated }: { readonly onCreated?: () => void }) {
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const create = useMutation(
    trpc.workspaces.create.mutationOptions({
      meta: { showsError: true },
      async onSuccess({ workspaceId }) {
        await queryClient.invalidateQueries(trpc.workspaces.list.queryFilter());
        onCreated?.();
        await navigate({ to: "/w/$workspaceId/articles", params: { workspaceId } });
      },
    }),
  );
  const rest = restOf(create.error, ["name"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ name: name.trim(), type: "team" });
      }}
    >
      {rest !== undefined && <ProblemLine error={rest} />}
      <TextField
        label="Name"
        value={name}
        maxLength={200}
        required
        autoFocus
        fault={faultsOf(create.error).name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" weight="primary" isBusy={create.isPending} className="w-full">
        Create workspace
      </Button>
    </form>
  );
}
