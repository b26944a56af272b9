/** Cost against the number of articles in a workspace: 10 in one store, 100,000 in another. */
import type { Row } from "../live/row.ts";
import { type GrownServer, type GrownStore, startGrownServer, toShortArticle } from "./grownServer.ts";
import { join, keystroke, list, request, TurnArticles } from "./operations.ts";
import { type Operation, takeTurns } from "./turns.ts";

const small = 10;
const large = 100_000;
const perTurn = 100;
const turnsPerRound = 2;

/** Chooses articles over the whole store, without choosing one twice. */
function spread<Item>(items: readonly Item[], count: number, turn: number): readonly Item[] {
  const step = Math.floor(items.length / count);
  return Array.from({ length: count }, (_, at) => items[(at * step + turn) % items.length] as Item);
}

function toOperations(): readonly Operation[] {
  const turnArticles = new TurnArticles();
  const half = perTurn / 2;
  let turn = 0;
  const stored = ({ articleIds }: GrownServer) => {
    turn += 1;
    return spread(articleIds, half, turn);
  };
  return [
    turnArticles.create(perTurn),
    list("list", "", 200),
    list("list by a word of the title", "&q=stone", 200),
    list("list by two words of the title", "&q=report%2077", 200),
    keystroke("keystroke", ({ articleIds }) => articleIds.slice(0, small), 400),
    join("join a new article", (server) => turnArticles.of(server).slice(0, half)),
    join("join a stored article", (server) => (server.articleIds.length < perTurn ? turnArticles.of(server).slice(half) : stored(server))),
    request("REST edit", true, (server) => turnArticles.of(server), editOf),
    request(
      "commit",
      true,
      (server) => turnArticles.of(server),
      ({ rest }, articleId) => rest.expect(201, "POST", `/articles/${articleId}/commits`, { message: "Measured" }),
    ),
    turnArticles.remove(),
  ];
}

/** Makes the first sentence one word longer. */
function editOf({ rest }: GrownServer, articleId: string): Promise<unknown> {
  const edit = { find: "report", replace: "long report", prefix: "The ", occurrence: "first" };
  return rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "patch", edits: [edit] });
}

export async function runArticleCount(store: GrownStore, rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const servers: GrownServer[] = [];
  try {
    for (const articles of [small, large]) {
      const size = `${articles.toLocaleString("en")} articles`;
      const startedAtMs = performance.now();
      servers.push(await startGrownServer(store, { size, articles, toUpdate: toShortArticle }));
      tell(`P10: filled a store with ${size} in ${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`);
    }
    const [few, many] = servers as [GrownServer, GrownServer];
    const scenario = store === "embedded" ? "by articles" : "by articles on Redis";
    return await takeTurns({
      id: "P10",
      scenario,
      servers: [few, many],
      operations: toOperations(),
      turns: rounds * turnsPerRound,
      tell,
    });
  } finally {
    for (const server of servers) await server.stop();
  }
}
