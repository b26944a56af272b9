import { useEffect } from "react";
import type * as Y from "yjs";
import type { Editor } from "../../../editor/index.ts";
import type { Draft } from "./Composer.tsx";
import { toRange } from "./places.ts";
import type { PlacedReview } from "./useReviews.ts";

/** Id of the mark of a review that is being written. */
export const draftId = "draft";

/** Highlights the places of the reviews in the text while the panel is open. */
export function useMarks(
  editor: Editor | undefined,
  doc: Y.Doc,
  placed: readonly PlacedReview[],
  activeId: string | undefined,
  draft: Draft | undefined,
): void {
  useEffect(() => {
    const places = [
      ...placed.map(({ review: { reviewId, kind }, place }) => ({ id: reviewId, kind, place, isActive: reviewId === activeId })),
      ...(draft === undefined ? [] : [{ id: draftId, kind: draft.kind, place: draft.place, isActive: true }]),
    ];
    editor?.setMarks(
      places.flatMap(({ place, ...mark }) => {
        const range = place === undefined ? undefined : toRange(doc, place);
        return range === undefined ? [] : [{ ...mark, ...range }];
      }),
    );
  }, [editor, doc, placed, activeId, draft]);
  useEffect(() => () => editor?.setMarks([]), [editor]);
}
