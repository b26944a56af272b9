import { useState } from "react";
import type * as Y from "yjs";
import type { ArticleFile } from "../../../../../api/schema/article.ts";
import type { Review, ReviewKind } from "../../../../../api/schema/review.ts";
import { ApiError } from "../../../../../client/index.ts";
import { client } from "../../../app/data.ts";
import { TextArea } from "../../../ui/prose.tsx";
import { articleFileNames } from "../panel/articleFileNames.ts";
import { type Place, toAnchor, toRange } from "./places.ts";
import { TextForm } from "./TextForm.tsx";
import { useChange } from "./useChange.ts";

/** A review that is being written. */
export interface Draft {
  readonly kind: ReviewKind;
  /** Undefined for a comment on the whole file. */
  readonly place: Place | undefined;
  /** The selected text. */
  readonly quote: string;
}

interface ComposerProps {
  readonly articleId: string;
  readonly file: ArticleFile;
  readonly doc: Y.Doc;
  readonly draft: Draft;
  readonly people: readonly string[];
  readonly onSent: (review: Review) => void;
  readonly onCancel: () => void;
}

/** The text of a suggestion without a note: the API asks for one. */
const defaultNote = "Suggested wording.";

/** Writes a comment or a suggestion for the text that was selected, wherever that has moved meanwhile. */
export function Composer({ articleId, file, doc, draft: { kind, place, quote }, people, onSent, onCancel }: ComposerProps) {
  const [replacement, setReplacement] = useState(quote);
  const { mutate, isPending, error } = useChange({ showsError: true });
  const isSuggestion = kind === "suggestion";

  async function send(text: string): Promise<void> {
    const range = place === undefined ? undefined : toRange(doc, place);
    if (place !== undefined && range === undefined) throw new Error("The selected text was deleted meanwhile. Select another place.");
    const anchor = range === undefined ? undefined : toAnchor(doc.getText(file).toString(), range);
    const body = text.trim() === "" ? defaultNote : text.trim();
    try {
      const review = await client.reviews.create.mutate({
        articleId,
        file,
        kind,
        body,
        ...(anchor === undefined ? {} : { anchor }),
        ...(isSuggestion ? { replacement } : {}),
      });
      onSent(review);
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.code !== "anchor_not_found") throw reason;
      throw new Error("The server does not have the selected text yet. Send again when everything is saved.", { cause: reason });
    }
  }

  return (
    <section aria-label={isSuggestion ? "New suggestion" : "New comment"} className="border-b border-line bg-side p-4">
      <h3 className="mb-2 text-xs font-medium text-muted">
        {place === undefined
          ? `Comment on the whole file: ${articleFileNames[file]}`
          : isSuggestion
            ? "Suggest other text for"
            : "Comment on"}
      </h3>
      {place !== undefined && (
        <blockquote dir="auto" className="mb-3 line-clamp-4 border-l-2 border-line-strong pl-2.5 text-sm text-muted wrap-anywhere">
          {quote}
        </blockquote>
      )}
      <TextForm
        label={isSuggestion ? "Note" : "Comment"}
        placeholder={isSuggestion ? "Why? (optional)" : "Write a comment. @ mentions a person"}
        action={isSuggestion ? "Suggest" : "Comment"}
        hasFocus={!isSuggestion}
        isOptional={isSuggestion}
        people={people}
        isBusy={isPending}
        error={error}
        onSend={(text) => mutate(() => send(text))}
        onCancel={onCancel}
      >
        {isSuggestion && (
          <div className="-mb-2">
            <TextArea
              label="New text"
              autoFocus
              dir="auto"
              hint={replacement === "" ? "The selected text will be removed." : undefined}
              value={replacement}
              onChange={({ target }) => setReplacement(target.value)}
            />
          </div>
        )}
      </TextForm>
    </section>
  );
}
