import { useInfiniteQuery } from "@tanstack/react-query";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { Button } from "../../ui/button.tsx";
import { CheckGroup } from "../../ui/choices.tsx";
import { ProblemLine } from "../../ui/problem.tsx";

interface WorkspaceChecksProps {
  readonly values: readonly string[];
  readonly fault: string | undefined;
  readonly onChange: (workspaceIds: readonly string[]) => void;
}

/** Chooses some of the workspaces that the person can open. */
export function WorkspaceChecks({ values, fault, onChange }: WorkspaceChecksProps) {
  const input = { limit: 100 };
  const list = useInfiniteQuery({
    queryKey: [...trpc.workspaces.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.workspaces.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  if (list.error !== null && list.data === undefined) return <ProblemLine error={list.error} />;
  if (list.data === undefined) return <div aria-busy="true" className="skeleton mb-4 h-14" />;
  const options = list.data.pages
    .flatMap(({ workspaces }) => workspaces)
    .map(({ workspaceId, name, displayName }) => ({ value: workspaceId, label: displayName ?? name }));
  return (
    <div className="ml-5.5 max-h-56 overflow-auto">
      <CheckGroup label="The key can open" values={values} options={options} fault={fault} onChange={onChange}>
        {list.hasNextPage && (
          <Button className="mt-1" isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show more
          </Button>
        )}
      </CheckGroup>
    </div>
  );
}
