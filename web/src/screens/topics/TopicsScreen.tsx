import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type Action, useActions } from "../../app/actions.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { FilterSelect, SearchField, Segments } from "../../ui/filters.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { NewTopicDialog } from "./NewTopicDialog.tsx";
import { ProjectDialog } from "./ProjectDialog.tsx";
import { TopicBoard } from "./TopicBoard.tsx";
import { TopicTable } from "./TopicTable.tsx";
import { allStatuses, topicStates } from "./topicWords.ts";
import { type TopicSort, topicSorts, useProjects, useTopicCounts, useTopics } from "./useTopics.ts";

const sortLabels: Readonly<Record<TopicSort, string>> = {
  createdAt: "Newest",
  updatedAt: "Last changed",
  priorityScore: "Priority",
  scheduledDate: "Planned date",
};
const naturalOrder = (sort: TopicSort) => (sort === "scheduledDate" ? "asc" : "desc");

/** The address has the field, and `.asc` or `.desc` if it is not the usual order of the field. */
function readSort(text: string | undefined): { readonly sort: TopicSort; readonly order: "asc" | "desc" } {
  const [name, order] = (text ?? "").split(".");
  const sort = topicSorts.find((known) => known === name) ?? "createdAt";
  return { sort, order: order === "asc" || order === "desc" ? order : naturalOrder(sort) };
}

function writeSort(sort: TopicSort, order: "asc" | "desc"): string | undefined {
  if (order !== naturalOrder(sort)) return `${sort}.${order}`;
  return sort === "createdAt" ? undefined : sort;
}

const manageProjects = "+";

/** The topics of the workspace: as a board by state, or as a table. */
export function TopicsScreen() {
  const { workspaceId, canWrite } = useWorkspace();
  const search = useSearch({ from: "/session/w/$workspaceId/topics" });
  const navigate = useNavigate({ from: "/w/$workspaceId/topics" });
  const [dialog, setDialog] = useState<"topic" | "project">();
  const isBoard = search.view !== "table";
  const { sort, order } = readSort(search.sort);
  const status = isBoard ? undefined : allStatuses.find((known) => known === search.status);
  const filter = { contentProjectId: search.project, q: search.q, sort, order };
  const projects = useProjects(workspaceId);
  const counts = useTopicCounts(workspaceId, search.project);
  const { list, topics } = useTopics(workspaceId, { ...filter, status }, !isBoard);
  const set = (next: Partial<typeof search>) => void navigate({ search: { ...search, ...next }, replace: true });

  const create = useMemo(() => (canWrite ? () => setDialog("topic") : undefined), [canWrite]);
  const actions = useMemo(
    (): readonly Action[] => [
      ...(create === undefined
        ? []
        : [
            { name: "New topic", group: "Topics", keys: "c", run: create },
            { name: "Make a folder a content project", group: "Topics", run: () => setDialog("project") },
          ]),
      {
        name: isBoard ? "Show topics as a table" : "Show topics as a board",
        group: "Topics",
        keys: "v",
        run: () => void navigate({ search: (before) => ({ ...before, view: isBoard ? "table" : "board" }), replace: true }),
      },
    ],
    [create, isBoard, navigate],
  );
  useActions(actions);

  const total = counts === undefined ? undefined : allStatuses.reduce((sum, name) => sum + counts[name], 0);
  const isFiltered = search.q !== undefined || search.project !== undefined || status !== undefined;
  const newTopic = create !== undefined && (
    <Button weight="primary" onClick={create}>
      <PlusIcon /> New topic
    </Button>
  );
  return (
    <Screen
      title="Topics"
      actions={newTopic}
      bar={
        <>
          <Segments
            label="View"
            value={isBoard ? "board" : "table"}
            options={[
              { value: "board", label: "Board" },
              { value: "table", label: "Table" },
            ]}
            onChange={(view) => set({ view: view === "table" ? "table" : undefined, status: undefined })}
          />
          <SearchField label="Find topics" value={search.q ?? ""} onChange={(q) => set({ q: q === "" ? undefined : q })} />
          <FilterSelect
            label="Content project"
            value={search.project ?? ""}
            options={[
              { value: "", label: "All projects" },
              ...(projects ?? []).map(({ folderId, name }) => ({ value: folderId, label: name })),
              ...(canWrite ? [{ value: manageProjects, label: "New content project…" }] : []),
            ]}
            onChange={(value) => (value === manageProjects ? setDialog("project") : set({ project: value === "" ? undefined : value }))}
          />
          {isBoard ? (
            <>
              <FilterSelect
                label="Sort by"
                value={sort}
                options={topicSorts.map((value) => ({ value, label: sortLabels[value] }))}
                onChange={(value) => {
                  const { sort: next } = readSort(value);
                  set({ sort: writeSort(next, naturalOrder(next)) });
                }}
              />
              {counts !== undefined && counts.archived > 0 && (
                <Button weight="quiet" onClick={() => set({ view: "table", status: "archived" })}>
                  {counts.archived} archived
                </Button>
              )}
            </>
          ) : (
            <Segments
              label="State of the topics"
              value={status ?? ""}
              options={[
                { value: "", label: "All" },
                ...allStatuses.map((name) => ({ value: name, label: topicStates[name].plural, count: counts?.[name] })),
              ]}
              onChange={(name) => set({ status: name === "" ? undefined : name })}
            />
          )}
        </>
      }
    >
      {total === 0 && !isFiltered ? (
        <Empty
          title="Plan the first topic"
          action={
            create !== undefined && (
              <>
                {newTopic}
                <Button onClick={() => setDialog("project")}>Set up a content project</Button>
              </>
            )
          }
        >
          A topic is an idea for an article. Agents or people take it from idea to outline to draft. Topics can belong to a content project:
          a folder that says who approves outlines and drafts.
        </Empty>
      ) : isBoard ? (
        <TopicBoard workspaceId={workspaceId} filter={filter} counts={counts} onCreate={create} />
      ) : list.error !== null && topics.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : list.data === undefined ? (
        <TableLoading />
      ) : topics.length === 0 && !list.hasNextPage ? (
        <Empty
          title="No topic matches"
          action={<Button onClick={() => void navigate({ search: { view: "table" }, replace: true })}>Clear the filters</Button>}
        />
      ) : (
        <TopicTable
          topics={topics}
          projects={projects ?? []}
          pages={list}
          sort={sort}
          order={order}
          onSort={(next) => set({ sort: writeSort(next, next === sort ? (order === "asc" ? "desc" : "asc") : naturalOrder(next)) })}
        />
      )}
      {dialog === "topic" && <NewTopicDialog projectId={search.project} onClose={() => setDialog(undefined)} />}
      {dialog === "project" && (
        <ProjectDialog
          onClose={() => setDialog(undefined)}
          onDone={(project) => {
            setDialog(undefined);
            set({ project });
          }}
        />
      )}
    </Screen>
  );
}

const loadingRows = 10;

function TableLoading() {
  return (
    <ul aria-label="Loading topics" aria-busy="true" className="pt-9">
      {Array.from({ length: loadingRows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other identity
        <li key={index} className="flex h-11 items-center gap-3 border-b border-line px-3 md:px-5">
          <span className="skeleton h-3.5 w-8" />
          <span className="skeleton h-3.5 w-2/5" />
        </li>
      ))}
    </ul>
  );
}
