import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import type { Article } from "../../../../api/schema/article.ts";
import { type Action, useActions } from "../../app/actions.ts";
import { trpc } from "../../app/data.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import type { Editor, Heading, Statistics } from "../../editor/index.ts";
import { Boundary } from "../../ui/boundary.tsx";
import { IconButton } from "../../ui/button.tsx";
import { CommentIcon, EyeIcon, GlobeIcon, HistoryIcon, OutlineIcon, RunIcon } from "../../ui/icons.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { ArticleMenu } from "../articles/ArticleMenu.tsx";
import { EditorPane } from "./EditorPane.tsx";
import { FileTabs } from "./FileTabs.tsx";
import { OutlinePanel } from "./OutlinePanel.tsx";
import { PagePreview } from "./PagePreview.tsx";
import { PresentPeople } from "./PresentPeople.tsx";
import type { ArticlePanel } from "./panel/panel.ts";
import { isTooLarge, SaveProblem, SaveState } from "./SaveState.tsx";
import { TextFooter } from "./TextFooter.tsx";
import { TitleField } from "./TitleField.tsx";
import { Toolbar } from "./Toolbar.tsx";
import { type OpenedArticle, useArticleState, useLiveArticle } from "./useLiveArticle.ts";

const ReviewsPanel = lazy(async () => ({ default: (await import("./reviews/index.ts")).ReviewsPanel }));
const HistoryPanel = lazy(async () => ({ default: (await import("./history/index.ts")).HistoryPanel }));
const PublishPanel = lazy(async () => ({ default: (await import("./publish/index.ts")).PublishPanel }));
const RunsPanel = lazy(async () => ({ default: (await import("./runs/index.ts")).RunsPanel }));

const panels = [
  ["outline", "Headings", <OutlineIcon key="outline" />],
  ["reviews", "Reviews", <CommentIcon key="reviews" />],
  ["history", "History", <HistoryIcon key="history" />],
  ["publish", "Publishing", <GlobeIcon key="publish" />],
  ["runs", "Runs", <RunIcon key="runs" />],
] as const;

/** An article: its text, live, and everything that belongs to it. */
export function ArticleScreen() {
  const { workspaceId, articleId } = useParams({ from: "/session/w/$workspaceId/articles/$articleId" });
  const { data: article, error, refetch } = useQuery(trpc.articles.get.queryOptions({ articleId }));
  const opened = useLiveArticle(articleId);
  if (error !== null && article === undefined) {
    return (
      <Screen title="Article">
        <ProblemView error={error} onRetry={() => void refetch()} />
      </Screen>
    );
  }
  if (article === undefined || opened === undefined) {
    return (
      <Screen title="Article">
        <div aria-busy="true" className="mx-auto flex max-w-2xl flex-col gap-3 px-6 pt-16">
          <div className="skeleton h-6 w-1/2" />
          <div className="skeleton h-4 w-full" />
          <div className="skeleton h-4 w-11/12" />
          <div className="skeleton h-4 w-4/5" />
        </div>
      </Screen>
    );
  }
  return <OpenArticle key={articleId} article={article} opened={opened} workspaceId={workspaceId} />;
}

interface OpenArticleProps {
  readonly article: Article;
  readonly opened: OpenedArticle;
  readonly workspaceId: string;
}

function OpenArticle({ article, opened: { live, hasCopy, discard }, workspaceId }: OpenArticleProps) {
  const { articleId, title } = article;
  const { canWrite } = useWorkspace();
  const search = useSearch({ from: "/session/w/$workspaceId/articles/$articleId" });
  const navigate = useNavigate({ from: "/w/$workspaceId/articles/$articleId" });
  const state = useArticleState(live);
  const [editor, setEditor] = useState<Editor>();
  const [statistics, setStatistics] = useState<Statistics>();
  const [headings, setHeadings] = useState<readonly Heading[]>([]);
  const file = search.file ?? "content.md";
  const view = search.view ?? "write";
  const isReadOnly =
    !canWrite || state.status === "readOnly" || (state.status === "refused" && !isTooLarge(state)) || state.status === "revoked";

  const toPanel = (panel: typeof search.panel) =>
    void navigate({ search: (before) => ({ ...before, panel: before.panel === panel ? undefined : panel }), replace: true });
  const actions = useMemo((): readonly Action[] => {
    const show = (panel: typeof search.panel) => () => void navigate({ search: (before) => ({ ...before, panel }), replace: true });
    return [
      ...panels.map(([panel, name]) => ({ name: `Show ${name.toLowerCase()}`, group: "Article", run: show(panel) })),
      {
        name: "Show the page beside the text",
        group: "Article",
        run: () => void navigate({ search: (before) => ({ ...before, view: "both" }), replace: true }),
      },
    ];
  }, [navigate]);
  useActions(actions);

  const panel: ArticlePanel = {
    articleId,
    workspaceId,
    file,
    doc: live.doc,
    editor,
    canWrite: !isReadOnly,
    onClose: () => toPanel(search.panel),
  };
  const shown: ReactNode =
    search.panel === "outline" ? (
      <OutlinePanel headings={headings} onOpen={(position) => editor?.goTo(position)} onClose={panel.onClose} />
    ) : search.panel === "reviews" ? (
      <ReviewsPanel {...panel} />
    ) : search.panel === "history" ? (
      <HistoryPanel {...panel} />
    ) : search.panel === "publish" ? (
      <PublishPanel {...panel} />
    ) : search.panel === "runs" ? (
      <RunsPanel {...panel} />
    ) : undefined;

  return (
    <Screen
      title={title}
      heading={<TitleField article={article} isReadOnly={!canWrite} />}
      actions={
        <>
          <SaveState live={live} hasCopy={hasCopy} />
          <PresentPeople awareness={live.awareness} />
          <span className="flex">
            <IconButton
              label={view === "write" ? "Show the page beside the text" : "Hide the page"}
              aria-pressed={view !== "write"}
              onClick={() =>
                void navigate({ search: (before) => ({ ...before, view: view === "write" ? "both" : undefined }), replace: true })
              }
            >
              <EyeIcon />
            </IconButton>
            {panels.map(([name, label, icon]) => (
              <IconButton key={name} label={label} aria-pressed={search.panel === name} onClick={() => toPanel(name)}>
                {icon}
              </IconButton>
            ))}
          </span>
          {canWrite && (
            <ArticleMenu
              article={article}
              isTrash={article.deletedAt !== undefined}
              onTrashed={() => void navigate({ to: "/w/$workspaceId/articles", params: { workspaceId } })}
            />
          )}
        </>
      }
      bar={
        <>
          <FileTabs file={file} onChange={(next) => void navigate({ search: (before) => ({ ...before, file: next }), replace: true })} />
          <span className="grow" />
          <Toolbar editor={editor} isDisabled={isReadOnly} />
        </>
      }
    >
      <div className="flex h-full min-h-0">
        <div className="flex min-w-0 grow flex-col">
          <SaveProblem live={live} onDiscard={discard} />
          <div className="flex min-h-0 grow">
            <div className={`min-w-0 flex-1 ${view === "write" ? "" : "hidden md:block"}`}>
              <EditorPane
                live={live}
                file={file}
                isReadOnly={isReadOnly}
                onEditor={setEditor}
                onStatistics={setStatistics}
                onOutline={setHeadings}
                onMark={(review) => void navigate({ search: (before) => ({ ...before, panel: "reviews", review }), replace: true })}
              />
            </div>
            {view !== "write" && (
              <div className="min-w-0 flex-1 border-line md:border-l">
                <PagePreview articleId={articleId} live={live} file={file} />
              </div>
            )}
          </div>
          <TextFooter article={article} file={file} statistics={statistics} />
        </div>
        {shown !== undefined && (
          <aside className="fixed inset-0 z-10 bg-bg md:static md:z-auto md:w-95 md:shrink-0 md:border-l md:border-line">
            <Boundary key={search.panel}>
              <Suspense>{shown}</Suspense>
            </Boundary>
          </aside>
        )}
      </div>
    </Screen>
  );
}
