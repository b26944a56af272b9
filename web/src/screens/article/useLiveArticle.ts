import { useEffect, useState, useSyncExternalStore } from "react";
import { IndexeddbPersistence } from "y-indexeddb";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { type ArticleState, type Article as LiveArticle, openArticle } from "../../../../client/article.ts";
import { useMe } from "../../app/useMe.ts";
import { offlineName } from "../../session/offlineText.ts";
import { api } from "../../session/session.ts";

export interface OpenedArticle {
  readonly live: LiveArticle;
  /** Deletes the copy of this browser and opens the text of the server again. Unsent changes are lost. */
  readonly discard: () => void;
}

/** Opens the article live, with the copy that this browser kept. Undefined until that copy is read. */
export function useLiveArticle(articleId: string): OpenedArticle | undefined {
  const { username } = useMe();
  const [opened, setOpened] = useState<OpenedArticle>();
  const [round, setRound] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round opens the same article again
  useEffect(() => {
    const doc = new Y.Doc();
    const awareness = new Awareness(doc);
    const kept = new IndexeddbPersistence(offlineName(username, articleId), doc);
    let live: LiveArticle | undefined;
    let isOver = false;
    // Without a copy, for example in a private window, the text of the server is enough.
    void kept.whenSynced
      .catch(() => undefined)
      .then(() => {
        if (isOver) return;
        live = openArticle({ api, articleId, doc, awareness });
        setOpened({
          live,
          discard: () => void kept.clearData().then(() => setRound((before) => before + 1)),
        });
      });
    return () => {
      isOver = true;
      setOpened(undefined);
      live?.close();
      awareness.destroy();
      void kept.destroy();
      doc.destroy();
    };
  }, [articleId, username, round]);
  return opened;
}

export function useArticleState(live: LiveArticle): ArticleState {
  return useSyncExternalStore(live.subscribe, () => live.state);
}
