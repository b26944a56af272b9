/**
 * Cost against the number of client ids in a document: 10 and 5,000. Every opened browser tab that types adds one, so an
 * old document has thousands.
 */
import * as Y from "yjs";
import type { Row } from "../live/row.ts";
import { type GrownServer, startGrownServer } from "./grownServer.ts";
import { join, keystroke } from "./operations.ts";
import { takeTurns } from "./turns.ts";

const counts = [10, 5000] as const;
const articles = 2;
const turnsPerRound = 2;
const words = "a word of the report";

function writtenBy(clientIds: number): Uint8Array {
  const document = new Y.Doc();
  for (let at = 0; at < clientIds; at += 1) {
    document.clientID = at + 1;
    document.getText("content.md").insert(at * words.length, words);
  }
  const update = Y.encodeStateAsUpdate(document);
  document.destroy();
  return update;
}

export async function runClientIds(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const servers: GrownServer[] = [];
  const states = new Map<string, Uint8Array>();
  try {
    for (const count of counts) {
      const size = `${count.toLocaleString("en")} client ids`;
      const state = writtenBy(count);
      states.set(size, state);
      servers.push(await startGrownServer("embedded", { size, articles, toUpdate: () => state }));
    }
    const [few, many] = servers as [GrownServer, GrownServer];
    const all = ({ articleIds }: GrownServer) => articleIds;
    return await takeTurns({
      id: "P10",
      scenario: "by client ids",
      servers: [few, many],
      operations: [
        keystroke("keystroke", all, 600, ({ size }) => ({ state: states.get(size) ?? new Uint8Array(), at: 0 })),
        join("join an open document", (server) => Array.from({ length: 20 }, () => all(server)).flat(), false),
      ],
      turns: rounds * turnsPerRound,
      tell,
    });
  } finally {
    for (const server of servers) await server.stop();
  }
}
