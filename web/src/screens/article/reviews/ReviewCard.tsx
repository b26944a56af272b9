import { useEffect, useRef, useState } from "react";
import type { Review } from "../../../../../api/schema/review.ts";
import { client } from "../../../app/data.ts";
import { useMe } from "../../../app/useMe.ts";
import { useWorkspace } from "../../../app/useWorkspace.ts";
import { Badge } from "../../../ui/badge.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { Question } from "../../../ui/dialog.tsx";
import { MoreIcon } from "../../../ui/icons.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Time } from "../../../ui/time.tsx";
import { DiffText } from "../diff/DiffView.tsx";
import { toWordParts } from "../diff/wordParts.ts";
import { Byline } from "./Byline.tsx";
import { Reply } from "./Reply.tsx";
import { ReviewActions } from "./ReviewActions.tsx";
import { ReviewText } from "./ReviewText.tsx";
import { TextForm } from "./TextForm.tsx";
import { useChange } from "./useChange.ts";

interface ReviewCardProps {
  readonly review: Review;
  readonly people: readonly string[];
  readonly canWrite: boolean;
  readonly isActive: boolean;
  readonly onSelect: () => void;
  /** Selects the review and shows its place in the text. */
  readonly onShow: () => void;
  /** The review was resolved, decided or deleted here. */
  readonly onDone: () => void;
}

function Quote({ review: { anchor, replacement }, onShow }: Pick<ReviewCardProps, "review" | "onShow">) {
  if (anchor === null) return null;
  return (
    <button
      type="button"
      onClick={onShow}
      title="Show in the text"
      className="mt-1 mb-2 block w-full rounded-sm border-l-2 border-line-strong py-0.5 pl-2.5 text-left text-sm text-muted hover:bg-hover"
    >
      <span dir="auto" className="line-clamp-6 wrap-anywhere whitespace-pre-wrap">
        {replacement === undefined ? anchor.quote : <DiffText parts={toWordParts(anchor.quote, replacement)} />}
      </span>
      {anchor.state === "moved" && (
        <span className="mt-1 block text-xs text-warn">The text was rewritten: check that this is still the place</span>
      )}
    </button>
  );
}

const outcomes = { open: undefined, resolved: "Resolved", accepted: "Accepted", rejected: "Rejected" } as const;

export function ReviewCard({ review, people, canWrite, isActive, onSelect, onShow, onDone }: ReviewCardProps) {
  const { reviewId, kind, author, body, createdAt, replies, status, resolvedBy, resolvedAt } = review;
  const { username } = useMe();
  const { isAdmin } = useWorkspace();
  const card = useRef<HTMLLIElement>(null);
  const [open, setOpen] = useState<"edit" | "delete">();
  const edit = useChange({ showsError: true });
  const remove = useChange({ showsError: true });
  const mayChange = canWrite && (isAdmin || author.username === username);
  useEffect(() => {
    if (isActive) card.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the quote is a button that does the same
    <li
      ref={card}
      aria-current={isActive}
      onClick={({ target, currentTarget }) => {
        // Buttons act for themselves. Menus and questions are elsewhere in the page.
        const isOwn = target instanceof Element && currentTarget.contains(target) && target.closest("button, textarea, a") === null;
        if (isOwn && !isActive) onSelect();
      }}
      className={`border-b border-l-2 border-line px-4 py-3 ${isActive ? "border-l-accent bg-side" : "border-l-transparent"}`}
    >
      <Byline author={author} at={createdAt} isEdited={false}>
        {kind === "suggestion" && <Badge tone="ok">Suggestion</Badge>}
        {mayChange && (
          <Menu
            trigger={
              <IconButton label={`Actions for the ${kind} of ${author.username}`}>
                <MoreIcon />
              </IconButton>
            }
          >
            <MenuItem onSelect={() => setOpen("edit")}>Edit</MenuItem>
            <MenuItem isDangerous onSelect={() => setOpen("delete")}>
              Delete…
            </MenuItem>
          </Menu>
        )}
      </Byline>
      <Quote review={review} onShow={onShow} />
      {open === "edit" ? (
        <TextForm
          label="Text of the review"
          action="Save"
          initial={body}
          hasFocus
          people={people}
          isBusy={edit.isPending}
          error={edit.error}
          onSend={(text) =>
            edit.mutate(() => client.reviews.update.mutate({ reviewId, body: text.trim() }), { onSuccess: () => setOpen(undefined) })
          }
          onCancel={() => setOpen(undefined)}
        />
      ) : (
        <ReviewText text={body} mentions={review.mentions} unresolvedMentions={review.unresolvedMentions} />
      )}
      {replies.length > 0 && (
        <ul aria-label="Replies" className="mt-1 border-l border-line pl-3">
          {replies.map((reply) => (
            <Reply key={reply.replyId} {...{ reply, people, isAdmin, canWrite }} />
          ))}
        </ul>
      )}
      {outcomes[status] !== undefined && (
        <p className="mt-2 text-xs text-muted">
          {outcomes[status]} {resolvedBy !== undefined && `by ${resolvedBy} `}
          {resolvedAt !== undefined && <Time at={resolvedAt} />}
        </p>
      )}
      {canWrite && <ReviewActions {...{ review, people, onDone }} />}
      <Question
        title={`Delete this ${kind}?`}
        lead="Its replies are deleted too. The text of the article stays as it is. This cannot be undone."
        action="Delete"
        isDangerous
        isOpen={open === "delete"}
        onClose={() => setOpen(undefined)}
        onConfirm={async () => {
          await remove.mutateAsync(() => client.reviews.delete.mutate({ reviewId }));
          onDone();
        }}
      />
    </li>
  );
}
