import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedAccount } from "../../../../api/schema/account.ts";
import { client, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { Check } from "../../ui/check.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";

interface NewAccountDialogProps {
  readonly onCreated: (account: CreatedAccount) => void;
  readonly onClose: () => void;
}

/** Creates an account without a password: the answer has a link by which the person sets one. */
export function NewAccountDialog({ onCreated, onClose }: NewAccountDialogProps) {
  const [username, setUsername] = useState("");
  const [displayName, setDisplayName] = useState("");
  const [email, setEmail] = useState("");
  const [operator, setOperator] = useState(false);
  const queryClient = useQueryClient();
  const create = useMutation({
    meta: { showsError: true },
    mutationFn: () =>
      client.accounts.create.mutate({
        username: username.trim().toLowerCase(),
        ...(displayName.trim() === "" ? {} : { displayName: displayName.trim() }),
        ...(email.trim() === "" ? {} : { email: email.trim() }),
        operator,
      }),
    onSuccess(account) {
      void queryClient.invalidateQueries(trpc.accounts.pathFilter());
      onCreated(account);
    },
  });
  const faults = faultsOf(create.error);
  const rest = restOf(create.error, ["username", "displayName", "email"]);
  return (
    <Dialog
      title="New account"
      lead="You get a link to hand over, by which the person chooses a password. It is shown once and works for one hour."
      isOpen
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField
          label="Username"
          hint="1 to 38 of a–z, 0–9, dot, underscore and hyphen. It can never be changed."
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
          maxLength={38}
          value={username}
          fault={faults.username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <TextField
          label="Display name"
          isOptional
          autoComplete="off"
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
        <Check label="Operator: may manage all accounts of this server, but sees no more content" isOn={operator} onChange={setOperator} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" weight="primary" isBusy={create.isPending}>
            Create account
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
