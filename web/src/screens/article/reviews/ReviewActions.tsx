import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Review } from "../../../../../api/schema/review.ts";
import { client, trpc } from "../../../app/data.ts";
import { Button } from "../../../ui/button.tsx";
import { CheckIcon } from "../../../ui/icons.tsx";
import { TextForm } from "./TextForm.tsx";
import { useChange } from "./useChange.ts";

interface ReviewActionsProps {
  readonly review: Review;
  readonly people: readonly string[];
  readonly onDone: () => void;
}

/** Replies to a review and decides it. */
export function ReviewActions({ review: { reviewId, kind, status, anchor }, people, onDone }: ReviewActionsProps) {
  const [isReplying, setIsReplying] = useState(false);
  const reply = useChange({ showsError: true });
  const decide = useChange();
  const queryClient = useQueryClient();

  /** The card leaves the list after the change, so it reports before the list is read again. */
  const end = (change: () => Promise<unknown>) =>
    decide.mutate(async () => {
      await change();
      onDone();
    });
  const accept = async () => {
    await client.reviews.accept.mutate({ reviewId });
    // The acceptance made a commit.
    await queryClient.invalidateQueries(trpc.commits.pathFilter());
  };

  if (isReplying) {
    return (
      <div className="mt-3">
        <TextForm
          label="Reply"
          placeholder="Reply. @ mentions a person"
          action="Reply"
          hasFocus
          people={people}
          isBusy={reply.isPending}
          error={reply.error}
          onSend={(text) =>
            reply.mutate(() => client.reviews.reply.mutate({ reviewId, body: text.trim() }), { onSuccess: () => setIsReplying(false) })
          }
          onCancel={() => setIsReplying(false)}
        />
      </div>
    );
  }
  return (
    <div className="mt-2 -ml-3 flex flex-wrap gap-1">
      <Button weight="quiet" onClick={() => setIsReplying(true)}>
        Reply
      </Button>
      {kind === "comment" && status === "open" && (
        <Button
          weight="quiet"
          isBusy={decide.isPending}
          onClick={() => end(() => client.reviews.update.mutate({ reviewId, status: "resolved" }))}
        >
          <CheckIcon /> Resolve
        </Button>
      )}
      {kind === "comment" && status === "resolved" && (
        <Button
          weight="quiet"
          isBusy={decide.isPending}
          onClick={() => end(() => client.reviews.update.mutate({ reviewId, status: "open" }))}
        >
          Reopen
        </Button>
      )}
      {kind === "suggestion" && status === "open" && (
        <>
          {anchor?.state !== "orphaned" && (
            <Button weight="quiet" isBusy={decide.isPending} onClick={() => end(accept)}>
              <CheckIcon /> Accept
            </Button>
          )}
          <Button weight="quiet" isBusy={decide.isPending} onClick={() => end(() => client.reviews.reject.mutate({ reviewId }))}>
            Reject
          </Button>
        </>
      )}
    </div>
  );
}
