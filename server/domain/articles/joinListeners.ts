/** Joins the listeners of several domains into one. The changes of all of them join the commit of the event. */
import type { Alongside } from "../../platform/actors/port.ts";
import { toAlongside } from "./alongside.ts";
import type { ArticleListeners } from "./port.ts";

export function joinListeners(listeners: readonly Partial<ArticleListeners>[]): ArticleListeners {
  /** The listeners run one after the other, in the order in which they were composed. */
  async function collect(call: (listener: Partial<ArticleListeners>) => Promise<Alongside> | undefined): Promise<Alongside> {
    const parts: Alongside[] = [];
    for (const listener of listeners) parts.push((await call(listener)) ?? {});
    return toAlongside(parts);
  }
  return {
    articleUpdated: (event) => collect((listener) => listener.articleUpdated?.(event)),
    articleCommitted: (event) => collect((listener) => listener.articleCommitted?.(event)),
    articleDeleted: (article) => collect((listener) => listener.articleDeleted?.(article)),
    articleRemoved: (article) => collect((listener) => listener.articleRemoved?.(article)),
  };
}
