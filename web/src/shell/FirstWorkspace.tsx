import { EntryPage } from "../screens/entry/EntryPage.tsx";
import { WorkspaceForm } from "./WorkspaceForm.tsx";

/** For an account that can see no workspace. */
export function FirstWorkspace() {
  return (
    <EntryPage title="Create a workspace" lead="It holds articles, topics and the people who work on them.">
      <WorkspaceForm />
    </EntryPage>
  );
}
