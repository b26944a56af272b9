import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../../../client/index.ts";
import { api, signIn } from "../../session/session.ts";
import { readSetupLink, redeemSetupLink, type SetupLink } from "../../session/setup.ts";
import { Button } from "../../ui/button.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { EntryPage } from "./EntryPage.tsx";
import { PasswordField } from "./PasswordField.tsx";

/** The target of a one-time link. Afterwards the person is signed in, and the first account has a workspace. */
export function SetupScreen() {
  const [link] = useState(() => readSetupLink(location.hash));
  if (link === undefined) {
    return (
      <EntryPage title="This page needs a setup link">
        <p className="text-sm text-muted">The address contains no setup token. Open the link exactly as you received it.</p>
      </EntryPage>
    );
  }
  return <SetupForm link={link} />;
}

const fields = ["username", "displayName", "password"];

function SetupForm({ link }: { readonly link: SetupLink }) {
  const [username, setUsername] = useState(link.username);
  const [displayName, setDisplayName] = useState("");
  const [password, setPassword] = useState("");
  const navigate = useNavigate();
  const attempt = useMutation({
    meta: { showsError: true },
    async mutationFn() {
      const account = await redeemSetupLink({
        token: link.token,
        password,
        ...(link.isFirst ? { username: username.trim().toLowerCase() } : {}),
        ...(displayName.trim() === "" ? {} : { displayName: displayName.trim() }),
      });
      await signIn(account.username, password);
      const { workspaces } = await api.trpc.workspaces.list.query({});
      if (workspaces.length === 0) await api.trpc.workspaces.create.mutate({ name: "My workspace", type: "team" });
      await navigate({ to: "/", replace: true });
    },
  });
  const faults = faultsOf(attempt.error);
  const rest = restOf(attempt.error, fields);
  if (attempt.error instanceof ApiError && attempt.error.status === 410) {
    return (
      <EntryPage title="This link no longer works">
        <p className="text-sm text-muted">
          {link.isFirst
            ? "It was used already, or it has expired. Start the server again: it prints a new link until the first account exists."
            : "It was used already, or it has expired. Ask the person who sent it for a new one."}
        </p>
      </EntryPage>
    );
  }
  return (
    <EntryPage
      title={link.isFirst ? "Welcome" : "Choose your password"}
      lead={
        link.isFirst ? "Create the first account of this server. It can manage all other accounts." : `Your username is ${link.username}.`
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate();
        }}
      >
        {rest !== undefined && <ProblemLine error={rest} />}
        {link.isFirst ? (
          <TextField
            label="Username"
            name="username"
            hint="1 to 38 of a–z, 0–9, dot, underscore and hyphen. It can never be changed."
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            required
            autoFocus
            maxLength={38}
            value={username}
            fault={faults.username}
            onChange={(event) => setUsername(event.target.value)}
          />
        ) : (
          // Password managers store the password under the username of the form.
          <input type="text" autoComplete="username" value={username} readOnly hidden />
        )}
        <TextField
          label="Name"
          name="displayName"
          isOptional
          autoComplete="name"
          maxLength={120}
          value={displayName}
          fault={faults.displayName}
          onChange={(event) => setDisplayName(event.target.value)}
        />
        <PasswordField
          label="Password"
          autoComplete="new-password"
          hint="At least 10 characters. A few random words make a good one."
          value={password}
          fault={faults.password}
          onChange={setPassword}
        />
        <Button type="submit" weight="primary" isBusy={attempt.isPending} className="w-full">
          {link.isFirst ? "Create account" : "Set password"}
        </Button>
      </form>
    </EntryPage>
  );
}
