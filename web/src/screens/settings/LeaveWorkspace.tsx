import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Workspace } from "../../../../api/schema/workspace.ts";
import { client, trpc } from "../../app/data.ts";
import { useMe } from "../../app/useMe.ts";
import { Button } from "../../ui/button.tsx";
import { Question } from "../../ui/dialog.tsx";
import { Section } from "../../ui/section.tsx";

/** For members and admins; the owner cannot leave. */
export function LeaveWorkspace({ workspace: { workspaceId, name } }: { readonly workspace: Workspace }) {
  const { username } = useMe();
  const [isAsking, setIsAsking] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return (
    <Section
      level={3}
      title="Leave the workspace"
      lead="You can no longer open it. Your texts stay, and runs that you started continue."
      action={
        <Button weight="danger" onClick={() => setIsAsking(true)}>
          Leave…
        </Button>
      }
    >
      {isAsking && (
        <Question
          title={`Leave “${name}”?`}
          lead="The owner or an admin can add you again."
          action="Leave"
          isDangerous
          isOpen
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            await client.members.remove.mutate({ workspaceId, username });
            await queryClient.invalidateQueries(trpc.workspaces.list.queryFilter());
            await navigate({ to: "/" });
          }}
        />
      )}
    </Section>
  );
}
