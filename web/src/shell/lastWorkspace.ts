/** The workspace that this browser opened last. */
const name = "lastWorkspace";

export function lastWorkspaceId(): string | undefined {
  return localStorage.getItem(name) ?? undefined;
}

export function rememberWorkspace(workspaceId: string): void {
  localStorage.setItem(name, workspaceId);
}
