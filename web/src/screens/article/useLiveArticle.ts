import { useEffect, useState, useSyncExternalStore } from "react";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { type ArticleState, type Article as LiveArticle, openArticle } from "../../../../client/article.ts";
import { useMe } from "../../app/useMe.ts";
import { offlineName } from "../../session/offlineText.ts";
import { api } from "../../session/session.ts";
import { markUnsent } from "../../session/unsent.ts";
import { keepCopy } from "./keepCopy.ts";

export interface OpenedArticle {
  readonly live: LiveArticle;
  /** False if this browser does not keep what is typed without a connection. */
  readonly hasCopy: boolean;
  /** Deletes the copy of this browser and opens the text of the server again. Unsent changes are lost. */
  readonly discard: () => void;
}

/** Opens the article live, with the copy that this browser kept. Undefined until that copy is read. */
export function useLiveArticle(articleId: string): OpenedArticle | undefined {
  const { username } = useMe();
  const [opened, setOpened] = useState<Omit<OpenedArticle, "hasCopy">>();
  const [hasCopy, setHasCopy] = useState(true);
  const [round, setRound] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round opens the same article again
  useEffect(() => {
    const doc = new Y.Doc();
    const awareness = new Awareness(doc);
    const copy = keepCopy(offlineName(username, articleId), doc, () => setHasCopy(false));
    let live: LiveArticle | undefined;
    let isOver = false;
    setHasCopy(true);
    void copy.ready.then(() => {
      if (isOver) return;
      const article = openArticle({ api, articleId, doc, awareness });
      live = article;
      // A text that the copy has brought counts as one change until the server has answered.
      let isUnsent: boolean | undefined;
      article.subscribe(({ status, unsavedChanges }) => {
        if (status === "connecting") return;
        const isNow = unsavedChanges > 0;
        if (isNow !== isUnsent) markUnsent(username, articleId, isNow);
        isUnsent = isNow;
      });
      setOpened({ live: article, discard: () => void copy.clear().finally(() => setRound((before) => before + 1)) });
    });
    return () => {
      isOver = true;
      setOpened(undefined);
      live?.close();
      awareness.destroy();
      copy.stop();
      doc.destroy();
    };
  }, [articleId, username, round]);
  return opened === undefined ? undefined : { ...opened, hasCopy };
}

export function useArticleState(live: LiveArticle): ArticleState {
  return useSyncExternalStore(live.subscribe, () => live.state);
}
