import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Review } from "../../../../../api/schema/review.ts";
import { draftId } from "./useMarks.ts";

/** The selected review is part of the address, so that it can be linked to and the editor can select it. */
export function useActiveReview() {
  const { review } = useSearch({ from: "/session/w/$workspaceId/articles/$articleId" });
  const activeId = review === draftId ? undefined : review;
  const navigate = useNavigate({ from: "/w/$workspaceId/articles/$articleId" });
  const select = (chosen: Review | undefined) =>
    void navigate({
      search: (before) => ({ ...before, review: chosen?.reviewId, ...(chosen === undefined ? {} : { file: chosen.file }) }),
      replace: true,
    });
  return { activeId, select };
}
