/** Tests attributions against a model that knows the author of each character, for any edits and any order of delivery. */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import { type AuthoredSpan, attribute, claimClocks, piecesOfDocument, readSpans } from "../../server/domain/articles/attribute.ts";

const file = "content.md";
const people: readonly Author[] = [
  { username: "ana", kind: "user" },
  { username: "bo", kind: "user" },
  { username: "cy", kind: "user" },
];
/** Their edits are made by the server, under one client id that they share. */
const callers: readonly Author[] = [
  { username: "ana", kind: "key" },
  { username: "bo", kind: "agent" },
  { username: "dee", kind: "user" },
];
const unknown = { author: { username: "nobody", kind: "user" } } as const;

interface Logged {
  readonly author: Author;
  readonly update: Uint8Array;
}

/** A document with its log, editors that may be behind, and the model: who inserted each character, which is unique. */
class World {
  readonly server = new Y.Doc();
  readonly owners = new Map<string, Author>();
  readonly firstCommits = new Map<string, string>();
  readonly editors: readonly { readonly author: Author; readonly document: Y.Doc; readonly undo: Y.UndoManager; unsent: Uint8Array[] }[];
  private log: Logged[] = [];
  private attribution: Uint8Array | undefined;
  private written = 0;
  private commits = 0;

  constructor() {
    this.server.clientID = 1;
    this.editors = people.map((author, at) => {
      const document = new Y.Doc();
      document.clientID = 100 + at;
      const text = document.getText(file);
      const editor = { author, document, undo: new Y.UndoManager(text, { captureTimeout: 0 }), unsent: [] as Uint8Array[] };
      text.observe(({ delta }, { local }) => {
        if (local) this.noteInserts(delta, author);
      });
      document.on("update", (update: Uint8Array, origin: unknown) => {
        if (origin !== "server") editor.unsent.push(update);
      });
      return editor;
    });
  }

  private noteInserts(delta: readonly { insert?: unknown }[], author: Author): void {
    for (const { insert } of delta) {
      for (const character of typeof insert === "string" ? insert : "") {
        this.owners.set(character, author);
        this.firstCommits.delete(character);
      }
    }
  }

  /** Characters that occur nowhere else. */
  private fresh(count: number): string {
    return String.fromCodePoint(...Array.from({ length: count }, () => 0x4e00 + this.written++));
  }

  write(document: Y.Doc, at: number, remove: number, insert: number): void {
    const text = document.getText(file);
    const place = at % (text.length + 1);
    document.transact(() => {
      text.delete(place, Math.min(remove, text.length - place));
      text.insert(place, this.fresh(insert));
    });
  }

  call(author: Author, at: number, remove: number, insert: number): void {
    const text = this.server.getText(file);
    const note = ({ delta }: Y.YTextEvent) => this.noteInserts(delta, author);
    const store = (update: Uint8Array) => this.log.push({ author, update });
    text.observe(note);
    this.server.on("update", store);
    this.write(this.server, at, remove, insert);
    text.unobserve(note);
    this.server.off("update", store);
  }

  send(at: number): void {
    const editor = this.editors[at];
    for (const update of editor?.unsent.splice(0) ?? []) {
      this.log.push({ author: (editor as { author: Author }).author, update });
      Y.applyUpdate(this.server, update);
    }
  }

  receive(at: number): void {
    const document = this.editors[at]?.document as Y.Doc;
    Y.applyUpdate(document, Y.encodeStateAsUpdate(this.server, Y.encodeStateVector(document)), "server");
  }

  /** Undoes between two sends. Otherwise the server would still have the character that the model gives to the undoing editor. */
  undo(at: number): void {
    this.send(at);
    this.editors[at]?.undo.undo();
    this.send(at);
  }

  /** Makes an attribution and forgets the log that it was made from, as if it were trimmed at once. */
  check(commitId?: string): void {
    const authors: Author[] = [];
    const updates = this.log.splice(0).map(({ author, update }) => ({ author: authors.push(author) - 1, update }));
    const pieces = piecesOfDocument(this.server);
    this.attribution = attribute({ before: this.attribution, claims: claimClocks({ updates }), authors, pieces, commitId, unknown });
  }

  /** Commits, and compares the spans with the model. */
  commit(): void {
    this.commits += 1;
    const commitId = `cmt_${this.commits}`;
    this.check(commitId);
    const text = this.server.getText(file).toString();
    for (const character of text) if (!this.firstCommits.has(character)) this.firstCommits.set(character, commitId);
    const spans = readSpans({ attribution: this.attribution as Uint8Array, file, first: 0, count: Number.POSITIVE_INFINITY });
    const wanted = [...text].map((character) => ({
      character,
      author: this.owners.get(character),
      commitId: this.firstCommits.get(character),
    }));
    expect(toCharacters(text, spans)).toEqual(wanted);
  }
}

/** The author and commit of each character. Fails unless the spans cover the text in order, and neighbours differ. */
function toCharacters(text: string, spans: readonly AuthoredSpan[]) {
  let end = 0;
  const found = spans.flatMap((span, at) => {
    expect(span.start).toBe(end);
    expect(span.end).toBeGreaterThan(span.start);
    end = span.end;
    const { author, commitId } = span;
    expect({ author, commitId }).not.toEqual({ author: spans[at - 1]?.author, commitId: spans[at - 1]?.commitId });
    return [...text.slice(span.start, span.end)].map((character) => ({ character, author, commitId }));
  });
  expect(end).toBe(text.length);
  return found;
}

const place = fc.nat({ max: 60 });
const size = fc.integer({ min: 0, max: 4 });
const someone = fc.nat({ max: 2 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("type" as const), who: someone, at: place, remove: size, insert: size }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("call" as const), who: someone, at: place, remove: size, insert: size }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("send" as const, "receive" as const), who: someone }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("commit" as const, "check" as const) }) },
);

test("[CO14] blame equals a model of each character, for any edits of several authors with any commits", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      for (const next of steps) {
        if (next.kind === "type") world.write((world.editors[next.who] as { document: Y.Doc }).document, next.at, next.remove, next.insert);
        else if (next.kind === "call") world.call(callers[next.who] as Author, next.at, next.remove, next.insert);
        else if (next.kind === "send") world.send(next.who);
        else if (next.kind === "receive") world.receive(next.who);
        // Only one editor undoes. If two brought the same character back, the model could not tell them apart.
        else if (next.kind === "undo") world.undo(0);
        else if (next.kind === "commit") world.commit();
        else world.check();
      }
      for (const at of people.keys()) world.send(at);
      world.commit();
    }),
    { numRuns: 300 },
  );
});

test("[CO14] text of an update that waits for another keeps its author, however late the other arrives", () => {
  const source = new Y.Doc();
  source.clientID = 9;
  const text = source.getText(file);
  text.insert(0, "first ");
  const first = Y.encodeStateAsUpdate(source);
  text.insert(6, "second");
  const second = Y.encodeStateAsUpdate(source, Y.encodeStateVectorFromUpdate(first));
  const server = new Y.Doc();
  const authors = [people[0] as Author];
  Y.applyUpdate(server, second);
  const waiting = attribute({
    before: undefined,
    claims: claimClocks({ updates: [{ author: 0, update: second }] }),
    authors,
    pieces: piecesOfDocument(server),
    commitId: "cmt_1",
    unknown,
  });
  expect(readSpans({ attribution: waiting, file, first: 0, count: 10 })).toEqual([]);
  Y.applyUpdate(server, first);
  const later = attribute({
    before: waiting,
    claims: claimClocks({ updates: [{ author: 0, update: first }] }),
    authors: [people[1] as Author],
    pieces: piecesOfDocument(server),
    commitId: "cmt_2",
    unknown,
  });
  expect(readSpans({ attribution: later, file, first: 0, count: 10 })).toEqual([
    { start: 0, end: 6, author: people[1], commitId: "cmt_2" },
    { start: 6, end: 12, author: people[0], commitId: "cmt_2" },
  ]);
  expect(readSpans({ attribution: later, file, first: 1, count: 1 })).toMatchObject([{ start: 6 }]);
});

test("[CO14] an attribution stays small: typing by one author is one range and one span, also after deletions", () => {
  const document = new Y.Doc();
  const text = document.getText(file);
  const updates: { author: number; update: Uint8Array }[] = [];
  document.on("update", (update: Uint8Array) => updates.push({ author: 0, update }));
  for (let at = 0; at < 500; at += 1) {
    text.insert((at * 7) % (text.length + 1), "ab");
    if (at % 3 === 0) text.delete((at * 5) % text.length, 1);
  }
  const pieces = piecesOfDocument(document);
  const stored = attribute({
    before: undefined,
    claims: claimClocks({ updates }),
    authors: [people[0] as Author],
    pieces,
    commitId: "c",
    unknown,
  });
  expect(readSpans({ attribution: stored, file, first: 0, count: 10 })).toEqual([
    { start: 0, end: text.length, author: people[0], commitId: "c" },
  ]);
  expect(stored.length).toBeLessThan(60);
});
