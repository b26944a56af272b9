import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Fact } from "../../ui/facts.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { Rows } from "../../ui/rows.tsx";
import { AddMember } from "./AddMember.tsx";
import { MemberRow } from "./MemberRow.tsx";
import { roles } from "./roles.ts";
import { SettingsPage } from "./SettingsPage.tsx";
import { WhoCanChange } from "./WhoCanChange.tsx";

/** Members with their roles, and invited collaborators with their permissions. */
export function MembersPage() {
  const { workspaceId, workspace, isAdmin, role } = useWorkspace();
  const input = { workspaceId, limit: 100 };
  const list = useInfiniteQuery({
    queryKey: [...trpc.members.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.members.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  const people = list.data?.pages.flatMap(({ collaborators }) => collaborators) ?? [];
  return (
    <SettingsPage group="Workspace" title="Members" lead="Everyone who can open this workspace.">
      {workspace !== undefined && (isAdmin ? <AddMember /> : <WhoCanChange workspace={workspace} what="change members" />)}
      {list.error !== null && people.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Rows label="Members and collaborators" isLoading={list.data === undefined || workspace === undefined} pages={list}>
          {people.map((person) => (
            <MemberRow key={`${person.type} ${person.username}`} person={person} isAdmin={isAdmin} />
          ))}
        </Rows>
      )}
      <dl className="mt-8 border-t border-line pt-5">
        {Object.values(roles).map(({ name, meaning }) => (
          <Fact key={name} name={name}>
            {meaning}
          </Fact>
        ))}
      </dl>
      {role !== undefined && role !== "owner" && (
        <p className="mt-4 text-sm text-muted">
          You can leave the workspace under{" "}
          <Link to="/w/$workspaceId/settings/general" params={{ workspaceId }} className="text-accent underline">
            General
          </Link>
          .
        </p>
      )}
    </SettingsPage>
  );
}
