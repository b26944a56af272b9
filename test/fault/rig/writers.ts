/**
 * Stock editors on one article, each at its node, and what they were told is safe: what a sync-step-2 confirmed to the
 * one who wrote it, and what another editor has seen. Each token they write is one of its kind.
 */
import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { type Editor, openEditor, type Rest } from "../../support/clients.ts";
import type { Journal } from "./journal.ts";

// Each provider listens for the end of the process.
process.setMaxListeners(0);

const tokenPattern = /\[[\w.]+\]/g;

/** The tokens of a text, in its order. */
export const tokensOf = (text: string): readonly string[] => text.match(tokenPattern) ?? [];

/** By a sync-step-2 to the writer, or in the eyes of another. */
export type Acknowledgement = "confirmed" | "seen";

export interface Writer {
  /** Where it works; the node it was opened at. */
  readonly node: number;
  readonly isConnected: boolean;
  readonly isSynced: boolean;
  readonly text: string;
  /** Types a token; every so often it asks whether all is safe, if the socket stands. */
  write(): void;
  close(): void;
}

/** `onAcknowledged` is called in the very turn in which something is confirmed, or is seen that was not known to be safe. */
export async function openWriter(options: {
  readonly rest: Rest;
  readonly node: number;
  readonly articleId: string;
  /** Unique among all writers that ever were. */
  readonly name: string;
  readonly journal: Journal;
  readonly onAcknowledged: (how: Acknowledgement) => void;
}): Promise<Writer> {
  const { rest, node, articleId, name, journal, onAcknowledged } = options;
  const editor: Editor = await openEditor(rest, articleId);
  const { provider, text } = editor;
  const written: string[] = [];
  let confirmed = 0;
  /** How much was written before each question of this socket that is not answered yet. */
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
  // A new socket has been asked nothing yet; its first answer is to the question it opens with.
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
      // Once it is in sync it has also said what it wrote while it was away: all of it went before this question.
      if (number % 7 !== 0 || !provider.synced) return;
      provider.synced = false;
      asked.push(written.length);
      sendQuestion(provider);
    },
    close: () => editor.close(),
  };
}

/** A sync-step-1, as y-protocols writes it. */
function sendQuestion({ ws, doc }: WebsocketProvider): void {
  const vector = Y.encodeStateVector(doc);
  const length: number[] = [];
  let rest = vector.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push(128 + (rest % 128));
  ws?.send(Uint8Array.from([0, 0, ...length, rest, ...vector]));
}
