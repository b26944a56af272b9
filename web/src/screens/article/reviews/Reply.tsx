import { useState } from "react";
import type { ReviewReply } from "../../../../../api/schema/review.ts";
import { client } from "../../../app/data.ts";
import { useMe } from "../../../app/useMe.ts";
import { IconButton } from "../../../ui/button.tsx";
import { Question } from "../../../ui/dialog.tsx";
import { MoreIcon } from "../../../ui/icons.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Byline } from "./Byline.tsx";
import { ReviewText } from "./ReviewText.tsx";
import { TextForm } from "./TextForm.tsx";
import { useChange } from "./useChange.ts";

interface ReplyProps {
  readonly reply: ReviewReply;
  readonly people: readonly string[];
  readonly isAdmin: boolean;
  readonly canWrite: boolean;
}

export function Reply({ reply, people, isAdmin, canWrite }: ReplyProps) {
  const { reviewId, replyId, author, body, createdAt, updatedAt } = reply;
  const me = useMe();
  const [open, setOpen] = useState<"edit" | "delete">();
  const edit = useChange({ showsError: true });
  const remove = useChange({ showsError: true });
  const isMine = author.username === me.username;
  return (
    <li className="mt-3">
      <Byline author={author} at={createdAt} isEdited={updatedAt > createdAt}>
        {canWrite && (isMine || isAdmin) && (
          <Menu
            trigger={
              <IconButton label={`Actions for the reply of ${author.username}`}>
                <MoreIcon />
              </IconButton>
            }
          >
            {isMine && <MenuItem onSelect={() => setOpen("edit")}>Edit</MenuItem>}
            <MenuItem isDangerous onSelect={() => setOpen("delete")}>
              Delete…
            </MenuItem>
          </Menu>
        )}
      </Byline>
      {open === "edit" ? (
        <div className="mt-2">
          <TextForm
            label="Reply"
            action="Save"
            initial={body}
            hasFocus
            people={people}
            isBusy={edit.isPending}
            error={edit.error}
            onSend={(text) =>
              edit.mutate(() => client.reviews.updateReply.mutate({ reviewId, replyId, body: text.trim() }), {
                onSuccess: () => setOpen(undefined),
              })
            }
            onCancel={() => setOpen(undefined)}
          />
        </div>
      ) : (
        <ReviewText text={body} mentions={reply.mentions} unresolvedMentions={reply.unresolvedMentions} />
      )}
      <Question
        title="Delete this reply?"
        lead="It cannot be brought back."
        action="Delete"
        isDangerous
        isOpen={open === "delete"}
        onClose={() => setOpen(undefined)}
        onConfirm={() => remove.mutateAsync(() => client.reviews.deleteReply.mutate({ reviewId, replyId }))}
      />
    </li>
  );
}
