import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Workspace } from "../../../../api/schema/workspace.ts";
import { client, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { Fact } from "../../ui/facts.tsx";
import { faultsOf, restOf, TextField } from "../../ui/form.tsx";
import { noticeStore } from "../../ui/notices.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";
import { LeaveWorkspace } from "./LeaveWorkspace.tsx";
import { OtherSettings } from "./OtherSettings.tsx";
import { SettingsPage } from "./SettingsPage.tsx";
import { StyleProfiles } from "./StyleProfiles.tsx";
import { WhoCanChange } from "./WhoCanChange.tsx";

/** Name, style profiles and facts of the workspace. */
export function GeneralPage() {
  const { workspace, isAdmin, role } = useWorkspace();
  return (
    <SettingsPage group="Workspace" title="General">
      {workspace === undefined ? (
        <div aria-busy="true">
          <div className="skeleton h-9 w-full max-w-md" />
          <div className="skeleton mt-8 h-24 w-full" />
        </div>
      ) : (
        <>
          {!isAdmin && <WhoCanChange workspace={workspace} what="change the workspace" />}
          <Section level={3} title="Workspace">
            {isAdmin && <NameForm key={workspace.workspaceId} workspace={workspace} />}
            <Facts workspace={workspace} isNameShown={!isAdmin || workspace.displayName !== undefined} />
          </Section>
          <StyleProfiles workspace={workspace} isAdmin={isAdmin} />
          <OtherSettings settings={workspace.settings} />
          {role !== undefined && role !== "owner" && <LeaveWorkspace workspace={workspace} />}
        </>
      )}
    </SettingsPage>
  );
}

function NameForm({ workspace: { workspaceId, name: before } }: { readonly workspace: Workspace }) {
  const [name, setName] = useState(before);
  const queryClient = useQueryClient();
  const save = useMutation({
    meta: { showsError: true },
    mutationFn: () => client.workspaces.update.mutate({ workspaceId, name: name.trim() }),
    async onSuccess() {
      noticeStore.trigger.show({ kind: "done", text: "The name is saved." });
      await queryClient.invalidateQueries(trpc.workspaces.pathFilter());
    },
  });
  const rest = restOf(save.error, ["name"]);
  return (
    <form
      className="max-w-md"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {rest !== undefined && <ProblemLine error={rest} />}
      <TextField
        label="Name"
        hint="Everyone in the workspace sees it. 1 to 200 characters."
        required
        maxLength={200}
        value={name}
        fault={faultsOf(save.error).name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" isBusy={save.isPending}>
        Save name
      </Button>
    </form>
  );
}

const kinds = { user: "Personal workspace of one account", team: "Workspace for several accounts" };

function Facts({ workspace, isNameShown }: { readonly workspace: Workspace; readonly isNameShown: boolean }) {
  return (
    <dl className="mt-6 first:mt-0">
      {isNameShown && <Fact name="Name">{workspace.displayName ?? workspace.name}</Fact>}
      <Fact name="Kind">{kinds[workspace.type]}</Fact>
      <Fact name="Owner">{workspace.ownerUsername}</Fact>
      <Fact name="Created">
        <Time at={workspace.createdAt} />
      </Fact>
      <Fact name="Id">
        <code className="font-mono text-xs break-all">{workspace.workspaceId}</code>
      </Fact>
    </dl>
  );
}
