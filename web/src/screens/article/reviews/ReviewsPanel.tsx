import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { Review, ReviewKind } from "../../../../../api/schema/review.ts";
import { trpc } from "../../../app/data.ts";
import { Button, IconButton } from "../../../ui/button.tsx";
import { Segments } from "../../../ui/filters.tsx";
import { CommentIcon } from "../../../ui/icons.tsx";
import { noticeStore } from "../../../ui/notices.tsx";
import { Empty } from "../../../ui/problem.tsx";
import { articleFileNames } from "../panel/articleFileNames.ts";
import { isOverText } from "../panel/isOverText.ts";
import { PanelFrame, PanelState } from "../panel/PanelFrame.tsx";
import type { ArticlePanel } from "../panel/panel.ts";
import { useArticleEvents } from "../panel/useArticleEvents.ts";
import { Composer, type Draft } from "./Composer.tsx";
import { toPlace, toRange } from "./places.ts";
import { ReviewCard } from "./ReviewCard.tsx";
import { useActiveReview } from "./useActiveReview.ts";
import { useMarks } from "./useMarks.ts";
import { useClosedReviews, useOpenReviews, usePeople, useSorted } from "./useReviews.ts";

type Tab = "open" | "closed";

const none: readonly Review[] = [];

/** Comments and suggestions beside the text that they are about. */
export function ReviewsPanel({ articleId, workspaceId, file, doc, editor, canWrite, onClose }: ArticlePanel) {
  const { activeId, select } = useActiveReview();
  const [tab, setTab] = useState<Tab>("open");
  const [draft, setDraft] = useState<Draft>();
  const people = usePeople(workspaceId);
  const open = useOpenReviews(articleId);
  const closed = useClosedReviews(articleId, tab === "closed");
  const reviews = open.data ?? none;
  const { ofFile, placed, orphaned } = useSorted(reviews, doc, file);
  useMarks(editor, doc, placed, activeId, draft);

  const queryClient = useQueryClient();
  useArticleEvents(articleId, (event) => {
    // Changes of the text move the places, so they are read again when typing has stopped.
    const canMove =
      event === undefined || (event.event === "document.live" ? event.data.typing.length === 0 : /^(document|review)\./.test(event.event));
    if (canMove) void queryClient.invalidateQueries(trpc.reviews.list.pathFilter());
  });

  const isRead = open.data !== undefined;
  const isActiveOpen = reviews.some(({ reviewId }) => reviewId === activeId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the address with which the page was opened can lead to a closed review
  useEffect(() => {
    if (isRead && activeId !== undefined && !isActiveOpen) setTab("closed");
  }, [isRead]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each selection shows the review, also in the list of another choice
  useEffect(() => {
    if (isActiveOpen) setTab("open");
  }, [activeId, isActiveOpen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selection belongs to one file
  useEffect(() => setDraft(undefined), [file]);

  function begin(kind: ReviewKind): void {
    const { from, to } = editor?.view.state.selection.main ?? { from: 0, to: 0 };
    const text = doc.getText(file);
    if (from < to) setDraft({ kind, place: toPlace(text, { from, to }), quote: text.toString().slice(from, to) });
    else if (kind === "comment") setDraft({ kind, place: undefined, quote: "" });
    else noticeStore.trigger.show({ kind: "error", text: "Select the text for which you suggest other words." });
  }

  function show(review: Review): void {
    select(review);
    if (isOverText()) onClose();
    const place = placed.find((one) => one.review.reviewId === review.reviewId)?.place;
    const range = place === undefined ? undefined : toRange(doc, place);
    if (range !== undefined) editor?.goTo(range.from);
  }

  const card = (review: Review) => (
    <ReviewCard
      key={review.reviewId}
      {...{ review, people, canWrite }}
      isActive={review.reviewId === activeId}
      onSelect={() => (isOverText() ? select(review) : show(review))}
      onShow={() => show(review)}
      onDone={() => {
        if (review.reviewId === activeId) select(undefined);
      }}
    />
  );
  const elsewhere = Map.groupBy(
    reviews.filter((review) => review.file !== file),
    (review) => review.file,
  );
  const isEmpty = ofFile.length + placed.length + orphaned.length === 0;

  return (
    <PanelFrame
      title="Reviews"
      onClose={onClose}
      actions={
        canWrite && (
          <>
            <IconButton label="Comment on the selected text" onClick={() => begin("comment")}>
              <CommentIcon />
            </IconButton>
            <Button weight="quiet" onClick={() => begin("suggestion")}>
              Suggest
            </Button>
          </>
        )
      }
      bar={
        <Segments
          label="Reviews to show"
          value={tab}
          onChange={(value) => setTab(value === "closed" ? "closed" : "open")}
          options={[
            { value: "open", label: "Open", count: isRead ? reviews.length : undefined },
            { value: "closed", label: "Closed" },
          ]}
        />
      }
    >
      {draft !== undefined && (
        <Composer
          // A new selection is a new form.
          key={`${draft.kind} ${draft.quote}`}
          {...{ articleId, file, doc, draft, people }}
          onSent={(review) => {
            setDraft(undefined);
            select(review);
          }}
          onCancel={() => setDraft(undefined)}
        />
      )}
      {tab === "closed" ? (
        <ClosedList closed={closed} card={card} />
      ) : !isRead ? (
        <PanelState label="reviews" error={open.error} onRetry={() => void open.refetch()} />
      ) : (
        <>
          {isEmpty && draft === undefined && (
            <Empty title="No open reviews" action={canWrite && <Button onClick={() => begin("comment")}>Comment</Button>}>
              Select words in the text to comment on them, or to suggest other words.
            </Empty>
          )}
          {ofFile.length > 0 && <Group title="About the whole file">{ofFile.map(card)}</Group>}
          {placed.length > 0 && <ul aria-label="In the text">{placed.map(({ review }) => card(review))}</ul>}
          {orphaned.length > 0 && (
            <Group
              title="Place not found"
              lead="The text that these reviews quote is no longer in the file, or it is there more than once."
            >
              {orphaned.map(card)}
            </Group>
          )}
          {[...elsewhere].map(([other, { length }]) => (
            <p key={other} className="px-4 py-3 text-sm text-muted">
              {length === 1 ? "1 open review" : `${length} open reviews`} in{" "}
              <Link
                to="/w/$workspaceId/articles/$articleId"
                params={{ workspaceId, articleId }}
                search={{ file: other, panel: "reviews" }}
                className="text-accent underline-offset-2 hover:underline"
              >
                {articleFileNames[other]}
              </Link>
            </p>
          ))}
        </>
      )}
    </PanelFrame>
  );
}

function Group({ title, lead, children }: { readonly title: string; readonly lead?: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <div className="border-b border-line bg-side px-4 py-2">
        <h3 className="text-xs font-medium text-muted">{title}</h3>
        {lead !== undefined && <p className="text-xs text-faint">{lead}</p>}
      </div>
      <ul>{children}</ul>
    </section>
  );
}

interface ClosedListProps {
  readonly closed: ReturnType<typeof useClosedReviews>;
  readonly card: (review: Review) => ReactNode;
}

function ClosedList({ closed, card }: ClosedListProps) {
  if (closed.data === undefined) return <PanelState label="reviews" error={closed.error} onRetry={() => void closed.refetch()} />;
  const reviews = closed.data.pages.flatMap((page) => page.reviews);
  if (reviews.length === 0) return <Empty title="No closed reviews">Resolved comments and decided suggestions are kept here.</Empty>;
  return (
    <>
      <ul aria-label="Closed reviews">{reviews.map(card)}</ul>
      {closed.hasNextPage && (
        <div className="p-4 text-center">
          <Button isBusy={closed.isFetchingNextPage} onClick={() => void closed.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
    </>
  );
}
