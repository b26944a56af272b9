import { useEffect, useEffectEvent } from "react";
import { type ArticleEvent, followArticle, type StreamReset } from "../../../../../client/index.ts";
import { api } from "../../../session/session.ts";

/**
 * Calls the listener for each event of the article while the tab is visible. A tab in the background has no stream, because
 * a browser has few connections for each server. `undefined` means that events may have been missed.
 */
export function useArticleEvents(articleId: string, onEvent: (event: ArticleEvent | undefined) => void): void {
  const report = useEffectEvent((event: ArticleEvent | StreamReset | undefined) =>
    onEvent(event?.event === "stream.reset" ? undefined : event),
  );
  useEffect(() => {
    let stop: AbortController | undefined;

    async function follow(signal: AbortSignal): Promise<void> {
      // What the panels have read until then may be older than the stream.
      for await (const event of followArticle(api, { articleId, signal, onOpen: () => report(undefined) })) report(event);
    }
    function start(): void {
      stop = new AbortController();
      // The screen shows why an article cannot be read. A stream that is refused adds nothing to that.
      follow(stop.signal).catch(() => {});
    }
    function onVisibility(): void {
      stop?.abort();
      stop = undefined;
      if (document.visibilityState === "hidden") return;
      start();
    }

    if (document.visibilityState === "visible") start();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      stop?.abort();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [articleId]);
}
