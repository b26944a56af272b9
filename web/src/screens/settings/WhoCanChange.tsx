import type { Workspace } from "../../../../api/schema/workspace.ts";

interface WhoCanChangeProps {
  readonly workspace: Workspace;
  /** What they can do, such as `change members`. */
  readonly what: string;
}

/** Says to people who may only look who the owner and the admins are. */
export function WhoCanChange({ workspace, what }: WhoCanChangeProps) {
  const names = workspace.members.filter(({ role }) => role !== "member").map(({ username }) => username);
  return (
    <p className="mb-5 rounded-md bg-side px-3 py-2 text-sm text-muted">
      Only the owner and admins can {what}: <span className="text-text">{new Intl.ListFormat("en").format(names)}</span>.
    </p>
  );
}
