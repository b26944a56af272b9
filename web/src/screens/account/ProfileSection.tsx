import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { client, trpc } from "../../app/data.ts";
import { useMe } from "../../app/useMe.ts";
import { refreshMe } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { Section } from "../../ui/section.tsx";
import { orNull } from "./orNull.ts";

export function ProfileSection() {
  const me = useMe();
  const [displayName, setDisplayName] = useState(me.displayName ?? "");
  const [email, setEmail] = useState(me.email ?? "");
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.auth.updateMe.mutate({ displayName: orNull(displayName), email: orNull(email) }),
    async onSuccess() {
      noticeStore.trigger.show({ kind: "done", text: "Your profile is saved." });
      await Promise.all([refreshMe(), queryClient.invalidateQueries(trpc.accounts.pathFilter())]);
    },
  });
  const faults = faultsOf(save.error);
  const rest = restOf(save.error, ["displayName", "email"]);
  return (
    <Section title="Profile">
      <form
        className="max-w-md"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        <TextField label="Username" hint="It never changes." value={me.username} readOnly disabled />
        <TextField
          label="Display name"
          isOptional
          hint="Shown beside your texts and cursors. At most 120 characters."
          autoComplete="name"
          maxLength={120}
          value={displayName}
          fault={faults.displayName}
          onChange={(event) => setDisplayName(event.target.value)}
        />
        <TextField
          label="E-mail address"
          isOptional
          hint="No other account can have it. The server sends no mail."
          type="email"
          autoComplete="email"
          maxLength={254}
          value={email}
          fault={faults.email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Button type="submit" isBusy={save.isPending}>
          Save profile
        </Button>
      </form>
    </Section>
  );
}
