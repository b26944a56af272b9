/**
 * Cost against the length of a text: 1 kB and 1 MB, inserted at once or typed piece by piece.
 *
 * Only a keystroke over the socket has to stay flat. A request reads or compares the whole text, so its cost may grow.
 */
import * as Y from "yjs";
import type { Row } from "../live/row.ts";
import { toText } from "./fill.ts";
import { type GrownServer, startGrownServer } from "./grownServer.ts";
import { join, keystroke, request, type TypedText } from "./operations.ts";
import { type Operation, takeTurns } from "./turns.ts";

const sizes = [
  { size: "1 kB", bytes: 1000 },
  { size: "1 MB", bytes: 1_000_000 },
] as const;
const turnsPerRound = 2;
const perKind = 2;
/** So many keystrokes that each document stores its state at least once. */
const keystrokes = 4200;
const pieceBytes = 20;

/** A text that was typed at changing places: one item of the document for each 20 characters. */
function toPieces(bytes: number): Uint8Array {
  const document = new Y.Doc();
  const text = document.getText("content.md");
  for (let at = 0; at * pieceBytes < bytes; at += 1) {
    // Knuth's multiplicative hash: places spread over the text, and the same ones at each run.
    const place = (Math.imul(at, 2_654_435_761) >>> 0) % (text.length + 1);
    text.insert(place, "a word of the report".slice(0, pieceBytes));
  }
  const update = Y.encodeStateAsUpdate(document);
  document.destroy();
  return update;
}

function toOnePiece(bytes: number): Uint8Array {
  const document = new Y.Doc();
  document.getText("content.md").insert(0, toText(bytes));
  const update = Y.encodeStateAsUpdate(document);
  document.destroy();
  return update;
}

interface Texts {
  readonly whole: Uint8Array;
  readonly pieces: Uint8Array;
  readonly bytes: number;
}

function toOperations(texts: ReadonlyMap<string, Texts>): readonly Operation[] {
  const whole = ({ articleIds }: GrownServer) => articleIds.slice(0, perKind);
  const pieces = ({ articleIds }: GrownServer) => articleIds.slice(perKind, 2 * perKind);
  const edited = ({ articleIds }: GrownServer) => articleIds.slice(2 * perKind, 3 * perKind);
  const many = (server: GrownServer) => Array.from({ length: 5 }, () => edited(server)).flat();
  const textOf =
    (kind: "whole" | "pieces") =>
    (server: GrownServer): TypedText => {
      const found = texts.get(server.size);
      if (found === undefined) throw new Error(`no text of ${server.size}`);
      return { state: found[kind], at: found.bytes / 2 };
    };
  const content = (articleId: string) => `/articles/${articleId}/content`;
  return [
    keystroke("keystroke, one piece", whole, keystrokes, textOf("whole")),
    keystroke("keystroke, many pieces", pieces, keystrokes, textOf("pieces")),
    join("join an open document", (server) => many(server), false),
    request("REST append", false, many, ({ rest }, articleId) =>
      rest.expect(200, "PATCH", content(articleId), { mode: "append", content: "One more line.\n" }),
    ),
    request("REST patch", false, many, ({ rest }, articleId) =>
      rest.expect(200, "PATCH", content(articleId), {
        mode: "patch",
        edits: [{ find: "report", replace: "long report", occurrence: "first" }],
      }),
    ),
    request("commit after an edit", false, edited, ({ rest }, articleId) => rest.expect(201, "POST", `/articles/${articleId}/commits`, {})),
    request("read as Markdown", false, many, ({ rest }, articleId) =>
      rest.expect(200, "GET", content(articleId), undefined, { accept: "text/markdown" }),
    ),
  ];
}

export async function runTextSize(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const servers: GrownServer[] = [];
  const texts = new Map<string, Texts>();
  try {
    for (const { size, bytes } of sizes) {
      const made = { whole: toOnePiece(bytes), pieces: toPieces(bytes), bytes };
      texts.set(size, made);
      const toUpdate = (at: number) => (at < perKind || at >= 2 * perKind ? made.whole : made.pieces);
      servers.push(await startGrownServer("embedded", { size, articles: 3 * perKind, toUpdate }));
    }
    const [short, long] = servers as [GrownServer, GrownServer];
    return await takeTurns({
      id: "P10",
      scenario: "by text size",
      servers: [short, long],
      operations: toOperations(texts),
      turns: rounds * turnsPerRound,
      tell,
    });
  } finally {
    for (const server of servers) await server.stop();
  }
}
