/**
 * Stock editors on one article, each at its node, with the text that was acknowledged to them: text that a sync step 2
 * confirmed to its writer, and text that another editor has seen. Each token that they write is unique.
 */
import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { type Editor, openEditor, type Rest } from "../../support/clients.ts";
import type { Journal } from "./journal.ts";

// Each provider listens for the exit of the process.
process.setMaxListeners(0);

const tokenPattern = /\[[\w.]+\]/g;

/** Returns the tokens of a text in order. */
export const tokensOf = (text: string): readonly string[] => text.match(tokenPattern) ?? [];

/** Confirmed by a sync step 2 to the writer, or seen by another editor. */
export type Acknowledgement = "confirmed" | "seen";

export interface Writer {
  /** Node at which the editor was opened. */
  readonly node: number;
  readonly isConnected: boolean;
  readonly isSynced: boolean;
  readonly text: string;
  /** Types a token. From time to time it asks for a confirmation, if the socket is open. */
  write(): void;
  close(): void;
}

/** `onAcknowledged` is called in the same turn in which a token is confirmed or is first seen. */
export async function openWriter(options: {
  readonly rest: Rest;
  readonly node: number;
  readonly articleId: string;
  /** Unique among all writers. */
  readonly name: string;
  readonly journal: Journal;
  readonly onAcknowledged: (how: Acknowledgement) => void;
}): Promise<Writer> {
  const { rest, node, articleId, name, journal, onAcknowledged } = options;
  const editor: Editor = await openEditor(rest, articleId);
  const { provider, text } = editor;
  const written: string[] = [];
  let confirmed = 0;
  /** Number of tokens that were written before each unanswered question of this socket. */
  let asked: number[] = [];

  function note(tokens: readonly string[], how: Acknowledgement): void {
    const known = journal.acknowledged.size;
    journal.acknowledge(...tokens);
    if (how === "confirmed" ? tokens.length > 0 : journal.acknowledged.size > known) onAcknowledged(how);
  }

  text.observe((event, transaction) => {
    if (transaction.local) return;
    for (const { insert } of event.delta) if (typeof insert === "string") note(tokensOf(insert), "seen");
  });
  provider.on("sync", (synced: boolean) => {
    if (!synced) return;
    const count = asked.shift() ?? 0;
    note(written.slice(confirmed, count), "confirmed");
    confirmed = Math.max(confirmed, count);
  });
  // A new socket has no open questions. Its first answer belongs to the question that it sends on opening.
  provider.on("status", ({ status }: { status: string }) => {
    if (status === "connected") asked = [0];
  });

  return {
    node,
    get isConnected() {
      return provider.wsconnected;
    },
    get isSynced() {
      return provider.wsconnected && provider.synced;
    },
    get text() {
      return text.toString();
    },
    write() {
      const number = written.length + 1;
      const token = `[${name}.${number}]`;
      journal.began(token);
      written.push(token);
      text.insert(number % 3 === 0 ? 0 : text.length, token);
      // An editor in sync has already sent the text that it wrote offline, so this question covers all of it.
      if (number % 7 !== 0 || !provider.synced) return;
      provider.synced = false;
      asked.push(written.length);
      sendQuestion(provider);
    },
    close: () => editor.close(),
  };
}

/** Sends a sync step 1 in the format of y-protocols. */
function sendQuestion({ ws, doc }: WebsocketProvider): void {
  const vector = Y.encodeStateVector(doc);
  const length: number[] = [];
  let rest = vector.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push(128 + (rest % 128));
  ws?.send(Uint8Array.from([0, 0, ...length, rest, ...vector]));
}
