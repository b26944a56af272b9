import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError } from "../../../../client/index.ts";
import { client, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/choices.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { type Failure, ProblemLine } from "../../ui/problem.tsx";
import { type GivenRole, givenRoles, roles } from "./roles.ts";

/** The refusals that are about the username, although they name no field. */
function isAboutUsername(error: Failure | null): error is ApiError {
  return error instanceof ApiError && (error.code === "not_found" || error.code === "already_exists");
}

/** Gives an account of this server a role in the workspace. */
export function AddMember() {
  const { workspaceId } = useWorkspace();
  const [username, setUsername] = useState("");
  const [role, setRole] = useState<GivenRole>("member");
  const field = useRef<HTMLInputElement>(null);
  const queryClient = useQueryClient();
  const add = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.members.add.mutate({ workspaceId, username: username.trim(), role }),
    async onSuccess(added) {
      setUsername("");
      field.current?.focus();
      noticeStore.trigger.show({
        kind: "done",
        text: `${added.username} is now ${roles[added.role].name.toLowerCase()} of the workspace.`,
      });
      await Promise.all([
        queryClient.invalidateQueries(trpc.members.pathFilter()),
        queryClient.invalidateQueries(trpc.workspaces.pathFilter()),
      ]);
    },
  });
  const faults = faultsOf(add.error);
  const fault = isAboutUsername(add.error) ? add.error.message : faults.username;
  const rest = isAboutUsername(add.error) ? undefined : restOf(add.error, ["username", "role"]);
  return (
    <form
      aria-label="Add a member"
      className="mb-4 border-b border-line pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      {rest !== undefined && <ProblemLine error={rest} />}
      <div className="grid grid-cols-[1fr_7rem_auto] items-start gap-x-2">
        <TextField
          ref={field}
          label="Add by username"
          hint="The account must exist on this server."
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          maxLength={38}
          value={username}
          fault={fault}
          onChange={(event) => {
            setUsername(event.target.value);
            if (add.isError) add.reset();
          }}
        />
        <SelectField label="Role" value={role} options={givenRoles} fault={faults.role} onChange={setRole} />
        <Button type="submit" weight="primary" isBusy={add.isPending} className="mt-6 h-9">
          Add
        </Button>
      </div>
    </form>
  );
}
