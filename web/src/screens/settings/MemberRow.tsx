import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WorkspaceCollaboratorResponse } from "../../../../api/schema/workspace.ts";
import { client, trpc } from "../../app/data.ts";
import { useMe } from "../../app/useMe.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { TrashIcon } from "../../ui/icons.tsx";
import { Row } from "../../ui/rows.tsx";
import { Time } from "../../ui/time.tsx";
import { type GivenRole, givenRoles, permissions, roles } from "./roles.ts";

interface MemberRowProps {
  readonly person: WorkspaceCollaboratorResponse;
  /** Whether the reader may change members. */
  readonly isAdmin: boolean;
}

export function MemberRow({ person, isAdmin }: MemberRowProps) {
  const me = useMe();
  const { username } = person;
  const title = (
    <>
      {username}
      {username === me.username && <Badge>You</Badge>}
    </>
  );
  const sign = <Avatar username={username} />;
  if (person.type === "invited") {
    return (
      <Row sign={sign} title={title} actions={<span className="text-sm text-muted">{permissions[person.permission]}</span>}>
        Invited collaborator since <Time at={person.acceptedAt} />
      </Row>
    );
  }
  if (person.role === "owner" || !isAdmin) {
    return (
      <Row sign={sign} title={title} actions={<span className="text-sm text-muted">{roles[person.role].name}</span>}>
        {isAdmin ? "The owner's role cannot be changed: a workspace always has its owner." : undefined}
      </Row>
    );
  }
  return (
    <Row sign={sign} title={title} actions={<RoleControls username={username} role={person.role} isOwn={username === me.username} />} />
  );
}

interface RoleControlsProps {
  readonly username: string;
  readonly role: GivenRole;
  readonly isOwn: boolean;
}

function RoleControls({ username, role, isOwn }: RoleControlsProps) {
  const { workspaceId, workspace } = useWorkspace();
  const [asked, setAsked] = useState<"remove" | "step down">();
  const queryClient = useQueryClient();
  const refresh = () =>
    Promise.all([queryClient.invalidateQueries(trpc.members.pathFilter()), queryClient.invalidateQueries(trpc.workspaces.pathFilter())]);
  async function save(next: GivenRole) {
    await client.members.update.mutate({ workspaceId, username, role: next });
    await refresh();
  }
  const change = useMutation({ mutationFn: save });
  const close = () => setAsked(undefined);
  return (
    <>
      <select
        aria-label={`Role of ${username}`}
        aria-busy={change.isPending}
        className="h-8 rounded-md border border-line bg-bg px-2 text-sm hover:border-line-strong"
        value={change.isPending ? change.variables : role}
        onChange={({ target }) => {
          const next = givenRoles.find(({ value }) => value === target.value)?.value;
          if (next === undefined || change.isPending) return;
          if (isOwn) setAsked("step down");
          else change.mutate(next);
        }}
      >
        {givenRoles.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {!isOwn && (
        <IconButton label={`Remove ${username}`} onClick={() => setAsked("remove")}>
          <TrashIcon />
        </IconButton>
      )}
      {asked === "step down" && (
        <Question
          title="Become a member without admin rights?"
          lead="You can then no longer manage members, webhooks and settings. Only the owner or another admin can give you the rights back."
          action="Become a member"
          isDangerous
          isOpen
          onClose={close}
          onConfirm={() => save("member")}
        />
      )}
      {asked === "remove" && (
        <Question
          title={`Remove ${username} from “${workspace?.name ?? "the workspace"}”?`}
          lead="Open articles of this person close within a second. The person's texts stay, and runs that the person started continue."
          action="Remove"
          isDangerous
          isOpen
          onClose={close}
          onConfirm={async () => {
            await client.members.remove.mutate({ workspaceId, username });
            await refresh();
          }}
        />
      )}
    </>
  );
}
