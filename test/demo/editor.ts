/**
 * One editor of the demo: a stock y-websocket client on a fresh Y.Doc that types its half of the text.
 *
 * It knows what it typed only from the document itself: after a crash a new editor looks how far its half
 * has come and goes on from there.
 */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { type Half, halves, headings } from "./text.ts";

export interface Editor {
  readonly text: Y.Text;
  /** Resolves at the first complete sync with the server. */
  synced(): Promise<void>;
  /** Types what is missing of a half, a few characters at a time, until it is whole or `halt` aborts. */
  type(half: Half, options: { pauseMs: number; halt?: AbortSignal }): Promise<void>;
  /** Closes the tab: the connection and everything the document remembers are gone. */
  close(): void;
}

/** How much of a half stands in a text: the number of its characters, from the first. */
export function typedCharacters(text: string, half: Half): number {
  const start = text.indexOf(headings[half]);
  if (start < 0) return 0;
  const body = text.slice(start + headings[half].length).replace(/^\n+/, "");
  let length = 0;
  while (length < halves[half].length && body[length] === halves[half][length]) length += 1;
  return length;
}

export function openEditor(options: { url: string; articleId: string; ticket: string }): Editor {
  const document = new Y.Doc();
  const text = document.getText("content.md");
  const provider = new WebsocketProvider(`${options.url.replace(/^http/, "ws")}/collab`, options.articleId, document, {
    params: { ticket: options.ticket },
    // y-websocket asks for a browser's WebSocket; that of `ws` has the same members.
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    maxBackoffTime: 500,
    disableBc: true,
  });

  function insertNext(half: Half, count: number): boolean {
    const whole = text.toString();
    const typed = typedCharacters(whole, half);
    if (typed === halves[half].length) return false;
    const heading = whole.indexOf(headings[half]) + headings[half].length;
    const next = halves[half].slice(typed, typed + count);
    if (typed === 0) text.insert(heading, `\n\n${next}`);
    else text.insert(heading + 2 + typed, next);
    return true;
  }

  return {
    text,
    synced: () =>
      new Promise((resolve) => {
        if (provider.synced) return resolve();
        provider.once("sync", () => resolve());
      }),
    async type(half, { pauseMs, halt }) {
      while (halt?.aborted !== true && insertNext(half, 3)) await pause(pauseMs);
    },
    close() {
      provider.destroy();
      document.destroy();
    },
  };
}
