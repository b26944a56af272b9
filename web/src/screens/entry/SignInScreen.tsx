import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { signIn } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { EntryPage } from "./EntryPage.tsx";
import { PasswordField } from "./PasswordField.tsx";

const leads = {
  signedOut: "You are signed out.",
  expired: "Your session has ended. Sign in to go on; what you typed in open articles is kept.",
};

export function SignInScreen({ ending }: { readonly ending: keyof typeof leads | undefined }) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const attempt = useMutation({ mutationFn: () => signIn(username.trim(), password), meta: { showsError: true } });
  return (
    <EntryPage title="Sign in" lead={ending === undefined ? undefined : leads[ending]}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate();
        }}
      >
        {attempt.error !== null && <ProblemLine error={attempt.error} />}
        <TextField
          label="Username"
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <PasswordField label="Password" autoComplete="current-password" value={password} onChange={setPassword} />
        <Button type="submit" weight="primary" isBusy={attempt.isPending} className="w-full">
          Sign in
        </Button>
      </form>
    </EntryPage>
  );
}
