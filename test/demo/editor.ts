/**
 * One editor of the demo: a stock y-websocket client on a new Y.Doc that types passages.
 *
 * Its progress is only in the document. After a crash, a new editor reads how much of a passage exists and continues
 * from there.
 */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Passage } from "./text.ts";

export interface Collaborator {
  readonly clientId: number;
  readonly name: string;
  readonly kind: string;
  readonly hasCursor: boolean;
}

export interface Editor {
  readonly text: Y.Text;
  /** Resolves at the first complete sync with the server. */
  synced(): Promise<void>;
  /** Types the missing part of a passage, a few characters at a time, until the passage is complete or `halt` aborts. */
  type(passage: Passage, options: { pauseMs: number; halt?: AbortSignal }): Promise<void>;
  /** The other people in the article, as the server reports them. */
  others(): readonly Collaborator[];
  /** Number of letters that were typed under this client id: in total, and those that still exist. */
  lettersOf(clientId: number): { readonly typed: number; readonly standing: number };
  /** Closes the tab: the connection and the local document are lost. */
  close(): void;
}

/** Returns the number of characters of a passage that the text contains, counted from the first. */
export function typedCharacters(text: string, { mark, words }: Passage): number {
  const start = text.indexOf(mark);
  if (start < 0) return 0;
  let length = 0;
  while (length < words.length && text[start + mark.length + length] === words[length]) length += 1;
  return length;
}

export function openEditor(options: { url: string; articleId: string; ticket: string }): Editor {
  const document = new Y.Doc();
  const text = document.getText("content.md");
  const provider = new WebsocketProvider(`${options.url.replace(/^http/, "ws")}/collab`, options.articleId, document, {
    params: { ticket: options.ticket },
    // y-websocket needs a browser's WebSocket; the one of `ws` has the same members.
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    maxBackoffTime: 500,
    disableBc: true,
  });

  function insertNext(passage: Passage, count: number): boolean {
    const whole = text.toString();
    const typed = typedCharacters(whole, passage);
    if (typed === passage.words.length) return false;
    const start = whole.indexOf(passage.mark);
    if (start < 0) throw new Error(`there is no place for “${passage.mark.trim()}”`);
    text.insert(start + passage.mark.length + typed, passage.words.slice(typed, typed + count));
    return true;
  }

  return {
    text,
    synced: () =>
      new Promise((resolve) => {
        if (provider.synced) return resolve();
        provider.once("sync", () => resolve());
      }),
    async type(passage, { pauseMs, halt }) {
      while (halt?.aborted !== true && insertNext(passage, 3)) await pause(pauseMs);
    },
    others: () =>
      [...provider.awareness.getStates()].flatMap(([clientId, { user, cursor }]) => {
        if (clientId === document.clientID || user === undefined) return [];
        const { name, kind } = user as { name: string; kind: string };
        return [{ clientId, name, kind, hasCursor: cursor !== undefined }];
      }),
    lettersOf(clientId) {
      const typed = Y.decodeStateVector(Y.encodeStateVector(document)).get(clientId) ?? 0;
      let standing = 0;
      for (let item = text._start; item !== null; item = item.right) {
        if (!item.deleted && item.id.client === clientId) standing += item.length;
      }
      return { typed, standing };
    },
    close() {
      provider.destroy();
      document.destroy();
    },
  };
}
