/** Joins the listeners of several domains into one. Each adds its changes to the unit of the event, in the given order. */
import type { ArticleListeners } from "./port.ts";

export function joinListeners(listeners: readonly Partial<ArticleListeners>[]): ArticleListeners {
  return {
    async articleUpdated(unit, event) {
      for (const listener of listeners) await listener.articleUpdated?.(unit, event);
    },
    async articleCommitted(unit, event) {
      for (const listener of listeners) await listener.articleCommitted?.(unit, event);
    },
    async articleDeleted(unit, article) {
      for (const listener of listeners) await listener.articleDeleted?.(unit, article);
    },
    async articlePurged(unit, article) {
      for (const listener of listeners) await listener.articlePurged?.(unit, article);
    },
    async articleRemoved(unit, article) {
      for (const listener of listeners) await listener.articleRemoved?.(unit, article);
    },
  };
}
