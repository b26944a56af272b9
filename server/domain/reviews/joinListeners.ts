/** Joins the review listeners of several domains into one. Each adds its changes to the unit of the event, in the given order. */
import type { ReviewListeners } from "./port.ts";

export function joinReviewListeners(listeners: readonly Partial<ReviewListeners>[]): ReviewListeners {
  return {
    async reviewCreated(unit, event) {
      for (const listener of listeners) await listener.reviewCreated?.(unit, event);
    },
    async reviewReplied(unit, event) {
      for (const listener of listeners) await listener.reviewReplied?.(unit, event);
    },
    async reviewResolved(unit, event) {
      for (const listener of listeners) await listener.reviewResolved?.(unit, event);
    },
  };
}
