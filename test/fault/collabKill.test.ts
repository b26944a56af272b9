/**
 * Tests stock editors that write while the server is killed repeatedly. The test itself records the acknowledgements:
 * text that a sync step 2 confirmed, and text that a second client has seen. The server is killed in the same turn as
 * an acknowledgement, so that nothing can become durable after it. Every other round the clients are closed too, so
 * that their memory cannot restore lost text.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import { type Editor, openEditor, type Rest, signIn } from "../support/clients.ts";
import { toRounds } from "../support/faultRounds.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const rounds = toRounds(4);
const writersOfArticle = 4;
const tokenPattern = /\[\d+\.\d+\]/g;

let server: RunningServer;
let rest: Rest;

beforeAll(async () => {
  server = await startServer({ LIMITS: "off" });
  rest = await signIn(server.url, server.operator);
});
afterAll(() => server.remove());

/** One article, its editors, and the text that was acknowledged to them. */
class Journal {
  readonly articleId: string;
  readonly acknowledged = new Set<string>();
  /** Called once, at the moment of the next acknowledgement. */
  onAcknowledged: (() => void) | undefined;
  private editors: Editor[] = [];
  private readonly asked = new Map<Editor, string[][]>();
  private readonly written = new Map<Editor, string[]>();

  constructor(articleId: string) {
    this.articleId = articleId;
  }

  async open(): Promise<void> {
    this.editors = await Promise.all(Array.from({ length: writersOfArticle }, () => openEditor(rest, this.articleId)));
    for (const editor of this.editors) this.listen(editor);
  }

  private listen(editor: Editor): void {
    this.written.set(editor, []);
    this.asked.set(editor, []);
    editor.text.observe((event, transaction) => {
      if (transaction.local) return;
      for (const { insert } of event.delta) {
        if (typeof insert === "string") this.note(insert.match(tokenPattern) ?? []);
      }
    });
    editor.provider.on("sync", (synced: boolean) => {
      if (synced) this.note(this.asked.get(editor)?.shift() ?? []);
    });
    // A new socket has no open questions.
    editor.provider.on("status", ({ status }: { status: string }) => {
      if (status === "connected") this.asked.set(editor, [[]]);
    });
  }

  private note(tokens: readonly string[]): void {
    const known = this.acknowledged.size;
    for (const token of tokens) this.acknowledged.add(token);
    if (this.acknowledged.size === known) return;
    this.onAcknowledged?.();
    this.onAcknowledged = undefined;
  }

  write(token: string, at: number): void {
    const editor = this.editors[at % this.editors.length];
    if (editor === undefined || !editor.provider.wsconnected) return;
    editor.text.insert(at % 3 === 0 ? 0 : editor.text.length, token);
    this.written.get(editor)?.push(token);
    if (at % 7 === 0) this.ask(editor);
  }

  private ask(editor: Editor): void {
    const { provider } = editor;
    if (!provider.synced) return;
    provider.synced = false;
    this.asked.get(editor)?.push([...(this.written.get(editor) ?? [])]);
    sendQuestion(provider);
  }

  /** Closes the editors, whose memory is lost. */
  close(): void {
    for (const editor of this.editors) editor.close();
    this.editors = [];
  }

  get isBack(): boolean {
    return this.editors.every(({ provider }) => provider.synced);
  }
}

function sendQuestion({ ws, doc }: WebsocketProvider): void {
  const vector = Y.encodeStateVector(doc);
  const length = vector.length < 128 ? [vector.length] : [128 + (vector.length % 128), Math.floor(vector.length / 128)];
  ws?.send(Uint8Array.from([0, 0, ...length, ...vector]));
}

it(`[RT2] [RT3] ${rounds} kill -9 under writers: no confirmed or seen text is lost or doubled`, async () => {
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  const { workspaceId } = workspaces[0].workspace ?? workspaces[0];
  const journals = await Promise.all(
    ["One", "Two"].map(async (title) => new Journal((await rest.expect(201, "POST", "/articles", { workspaceId, title })).articleId)),
  );
  await Promise.all(journals.map((journal) => journal.open()));
  let number = 0;
  for (let round = 0; round < rounds; round += 1) {
    const endMs = Date.now() + 250 + Math.random() * 500;
    let killed: Promise<void> | undefined;
    while (killed === undefined) {
      const [first] = journals;
      if (Date.now() >= endMs && first !== undefined) {
        first.onAcknowledged ??= () => {
          killed = server.kill();
        };
      }
      for (const [at, journal] of journals.entries()) {
        number += 1;
        journal.write(`[${at}.${number}]`, number);
      }
      await pause(2);
    }
    const clientsDie = round % 2 === 0;
    if (clientsDie) for (const journal of journals) journal.close();
    await killed;
    await server.start();
    if (clientsDie) await Promise.all(journals.map((journal) => journal.open()));
    while (!journals.every((journal) => journal.isBack)) await pause(5);
  }
  for (const journal of journals) journal.close();
  let total = 0;
  for (const journal of journals) {
    const cold = await openEditor(rest, journal.articleId);
    const tokens = cold.text.toString().match(tokenPattern) ?? [];
    const stored = new Set(tokens);
    expect([...journal.acknowledged].filter((token) => !stored.has(token))).toEqual([]);
    expect(tokens.length).toBe(stored.size);
    expect(cold.text.toString()).toBe(tokens.join(""));
    total += journal.acknowledged.size;
    cold.close();
  }
  expect(total).toBeGreaterThan(50 * rounds);
});
