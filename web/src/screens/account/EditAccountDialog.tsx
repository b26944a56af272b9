import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Account } from "../../../../api/schema/account.ts";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { orNull } from "./orNull.ts";

interface EditAccountDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

/** For operators: changes the name and the e-mail address of another account. */
export function EditAccountDialog({ account: { username, ...before }, onClose }: EditAccountDialogProps) {
  const [displayName, setDisplayName] = useState(before.displayName ?? "");
  const [email, setEmail] = useState(before.email ?? "");
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.accounts.update.mutate({ username, displayName: orNull(displayName), email: orNull(email) }),
    async onSuccess() {
      await queryClient.invalidateQueries(trpc.accounts.pathFilter());
      onClose();
    },
  });
  const faults = faultsOf(save.error);
  const rest = restOf(save.error, ["displayName", "email"]);
  return (
    <Dialog title={`Account ${username}`} isOpen onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField
          label="Display name"
          isOptional
          autoComplete="off"
          autoFocus
          maxLength={120}
          value={displayName}
          fault={faults.displayName}
          onChange={(event) => setDisplayName(event.target.value)}
        />
        <TextField
          label="E-mail address"
          isOptional
          type="email"
          autoComplete="off"
          maxLength={254}
          value={email}
          fault={faults.email}
          onChange={(event) => setEmail(event.target.value)}
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
