/**
 * Cost against the number of articles: 10, 10,000 and 100,000 articles in one workspace of a store each.
 *
 * Every list of articles that has an index of its own is read, in each order that it has. Half of the articles are in it.
 */
import type { Row } from "../live/row.ts";
import { toShortArticle } from "./fill.ts";
import { type GrownServer, type GrownStore, startGrownServer } from "./grownServer.ts";
import { join, keystroke, list, read, request, TurnArticles } from "./operations.ts";
import { type Operation, takeTurns } from "./turns.ts";

const sizes = [10, 10_000, 100_000] as const;
const perTurn = 100;
const lists = 100;
const turnsPerRound = 2;

/** Chooses articles over the whole store, without choosing one twice. */
function spread<Item>(items: readonly Item[], count: number, turn: number): readonly Item[] {
  const step = Math.floor(items.length / count);
  return Array.from({ length: count }, (_, at) => items[(at * step + turn) % items.length] as Item);
}

function toListOperations(): readonly Operation[] {
  const orders = ["createdAt", "updatedAt", "title"] as const;
  const inEveryOrder = (name: string, toQuery: (server: GrownServer) => string) =>
    orders.map((sort) => list(`list ${name} by ${sort}`, (server) => `&sort=${sort}${toQuery(server)}`, lists));
  const byCreation = (name: string, toQuery: (server: GrownServer) => string) => list(`list ${name}`, toQuery, lists);
  return [
    ...inEveryOrder("all", () => ""),
    ...inEveryOrder("a folder", ({ catalog }) => `&folderId=${catalog.folderId}`),
    ...inEveryOrder("the top level", () => "&folderId=null"),
    ...inEveryOrder("the trash", () => "&deleted=true"),
    byCreation("an author", ({ catalog }) => `&author=${catalog.username}`),
    byCreation("a topic", ({ catalog }) => `&topicId=${catalog.topicId}`),
    byCreation("published", () => "&published=live"),
    byCreation("changed since", ({ filledAt }) => `&updatedSince=${filledAt}`),
    byCreation("a word of the title", () => "&q=stone"),
    byCreation("two words of the title", () => "&q=report%207"),
  ];
}

function toOperations(): readonly Operation[] {
  const turnArticles = new TurnArticles();
  const half = perTurn / 2;
  let turn = 0;
  const stored = ({ articleIds }: GrownServer) => {
    turn += 1;
    return spread(articleIds, half, turn);
  };
  const someStored = (server: GrownServer) => (server.articleIds.length < perTurn ? turnArticles.of(server).slice(half) : stored(server));
  const search = (q: string) => (server: GrownServer) => `/workspaces/${server.workspaceId}/search?limit=5&q=${encodeURIComponent(q)}`;
  return [
    turnArticles.create(perTurn),
    ...toListOperations(),
    request("open over REST", true, someStored, ({ rest }, articleId) => rest.expect(200, "GET", `/articles/${articleId}`)),
    join("join a new article", (server) => turnArticles.of(server).slice(0, half)),
    join("join a stored article", someStored),
    keystroke("keystroke", ({ articleIds }) => articleIds.slice(0, Math.min(...sizes)), 400),
    read("search a rare word", search("7 "), lists),
    // The index ranks at most `search.ranked` documents, so the cost rises up to there and no further.
    read("search a word of every text", search("finding "), lists, false),
    read("mentions of the caller", ({ workspaceId }) => `/workspaces/${workspaceId}/reviews?mentionsMe=true&limit=5`, lists),
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
    for (const articles of sizes) {
      const size = `${articles.toLocaleString("en")} articles`;
      const startedAtMs = performance.now();
      servers.push(await startGrownServer(store, { size, articles, toUpdate: toShortArticle }, { hasCatalog: true }));
      tell(`P10: filled a store with ${size} in ${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`);
    }
    const [few, ...many] = servers as [GrownServer, ...GrownServer[]];
    const scenario = store === "embedded" ? "by articles" : "by articles on Redis";
    return await takeTurns({
      id: "P10",
      scenario,
      servers: [few, ...many],
      operations: toOperations(),
      turns: rounds * turnsPerRound,
      tell,
    });
  } finally {
    for (const server of servers) await server.stop();
  }
}
