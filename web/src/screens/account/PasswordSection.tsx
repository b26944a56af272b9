import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../../app/data.ts";
import { useMe } from "../../app/useMe.ts";
import { Button } from "../../ui/button.tsx";
import { faultsOf, restOf } from "../../ui/form.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { Section } from "../../ui/section.tsx";
import { PasswordField } from "../entry/PasswordField.tsx";

export function PasswordSection() {
  const { username } = useMe();
  const [currentPassword, setCurrentPassword] = useState("");
  const [password, setPassword] = useState("");
  const change = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.auth.updateMe.mutate({ currentPassword, password }),
    onSuccess() {
      setCurrentPassword("");
      setPassword("");
      noticeStore.trigger.show({ kind: "done", text: "Your password is changed. All your other sessions have ended." });
    },
  });
  const faults = faultsOf(change.error);
  const rest = restOf(change.error, ["currentPassword", "password"]);
  return (
    <Section
      title="Password"
      lead="A new password ends all your other sessions: other browsers and devices must sign in again. This browser stays signed in, and API keys keep working."
    >
      <form
        className="max-w-md"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        {/* Password managers store the password under the username of the form. */}
        <input type="text" autoComplete="username" value={username} readOnly hidden />
        <PasswordField
          label="Current password"
          autoComplete="current-password"
          value={currentPassword}
          fault={faults.currentPassword}
          onChange={setCurrentPassword}
        />
        <PasswordField
          label="New password"
          autoComplete="new-password"
          hint="10 to 200 characters. A few random words make a good one."
          value={password}
          fault={faults.password}
          onChange={setPassword}
        />
        <Button type="submit" isBusy={change.isPending}>
          Change password
        </Button>
      </form>
    </Section>
  );
}
