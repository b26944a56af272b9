import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Review } from "../../../../../api/schema/review.ts";

/** The selected review is part of the address, so that it can be linked to and the editor can select it. */
export function useActiveReview() {
  const { review: activeId } = useSearch({ from: "/session/w/$workspaceId/articles/$articleId" });
  const navigate = useNavigate({ from: "/w/$workspaceId/articles/$articleId" });
  const select = (review: Review | undefined) =>
    void navigate({
      search: (before) => ({ ...before, review: review?.reviewId, ...(review === undefined ? {} : { file: review.file }) }),
      replace: true,
    });
  return { activeId, select };
}
