/** The operations whose cost is measured against size: over REST, and over the socket. */
import { BenchClient, plainWire } from "../live/benchClient.ts";
import { toText, toTitle } from "./fill.ts";
import type { GrownServer } from "./grownServer.ts";
import type { Operation } from "./turns.ts";

/** Runs `each` for every item, one after the other, and returns the milliseconds of each. */
async function timed<Item>(items: readonly Item[], each: (item: Item) => Promise<unknown>): Promise<readonly number[]> {
  const latenciesMs: number[] = [];
  for (const item of items) {
    const startedAtMs = performance.now();
    await each(item);
    latenciesMs.push(performance.now() - startedAtMs);
  }
  return latenciesMs;
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

export function openClient(server: GrownServer, room: string, options: Partial<Parameters<typeof BenchClient.open>[0]> = {}) {
  return BenchClient.open({ ...server.address(room), wire: plainWire, room, updates: 0, onReceived: () => {}, ...options });
}

/**
 * Articles that are made over REST for one turn and deleted after it: writes leave the size of the store unchanged.
 *
 * Both operations write a row for each beginning of each word of the title. In a small store these rows are in a few
 * pages, so their cost may grow with the depth of the tree.
 */
export class TurnArticles {
  readonly #made = new Map<GrownServer, string[]>();

  of(server: GrownServer): readonly string[] {
    return this.#made.get(server) ?? [];
  }

  create(count: number): Operation {
    return {
      name: "create",
      isFlat: false,
      prepare: async (server) => ({
        run: async () => {
          const made: string[] = [];
          this.#made.set(server, made);
          return timed(numbers(count), async (at) => {
            const body = { workspaceId: server.workspaceId, title: toTitle(at), content: toText(1000) };
            made.push((await server.rest.expect(201, "POST", "/articles", body)).articleId);
          });
        },
      }),
    };
  }

  remove(): Operation {
    return {
      name: "delete permanently",
      isFlat: false,
      prepare: async (server) => ({
        run: () => timed(this.of(server), (articleId) => server.rest.expect(204, "DELETE", `/articles/${articleId}?permanent=true`)),
      }),
    };
  }
}

/** The same read again and again. `toPath` may name resources of the server. */
export function read(name: string, toPath: (server: GrownServer) => string, count: number, isFlat = true): Operation {
  return {
    name,
    isFlat,
    async prepare(server) {
      const path = toPath(server);
      return { run: () => timed(numbers(count), () => server.rest.expect(200, "GET", path)) };
    },
  };
}

/** A page of five articles, which is full in a workspace of ten articles too. */
export function list(name: string, toQuery: (server: GrownServer) => string, count: number): Operation {
  return read(name, (server) => `/articles?workspaceId=${server.workspaceId}&limit=5${toQuery(server)}`, count);
}

/** `articles` chooses the articles to join, of which no room is open. */
export function join(name: string, articles: (server: GrownServer) => readonly string[], isFlat = true): Operation {
  return {
    name,
    isFlat,
    async prepare(server) {
      const chosen = articles(server);
      const clients: BenchClient[] = [];
      return {
        run: () => timed(chosen, async (articleId) => clients.push(await openClient(server, articleId))),
        end() {
          for (const client of clients) client.close();
        },
      };
    },
  };
}

export interface TypedText {
  /** What the typist has of the document before it types, as a Yjs update. */
  readonly state: Uint8Array;
  /** Where the typist types. */
  readonly at: number;
}

/** One keystroke at a time in each of the articles in turn, until a second client has it. */
export function keystroke(
  name: string,
  articles: (server: GrownServer) => readonly string[],
  count: number,
  textOf: (server: GrownServer) => TypedText | undefined = () => undefined,
): Operation {
  return {
    name,
    isFlat: true,
    async prepare(server) {
      let arrived: () => void = () => {};
      const within = textOf(server);
      const chosen = articles(server);
      const updates = Math.ceil(count / chosen.length);
      const pairs: { readonly typist: BenchClient; readonly reader: BenchClient }[] = [];
      for (const articleId of chosen) {
        const reader = await openClient(server, articleId, { onReceived: () => arrived() });
        const typist = await openClient(server, articleId, { updates, ...(within === undefined ? {} : { within }) });
        pairs.push({ typist, reader });
      }
      return {
        run: () =>
          timed(
            numbers(updates).flatMap(() => pairs),
            ({ typist }) =>
              new Promise<void>((resolve) => {
                arrived = resolve;
                typist.type();
              }),
          ),
        end() {
          for (const { typist, reader } of pairs) {
            typist.close();
            reader.close();
          }
        },
      };
    },
  };
}

export function request(
  name: string,
  isFlat: boolean,
  articles: (server: GrownServer) => readonly string[],
  send: (server: GrownServer, articleId: string) => Promise<unknown>,
): Operation {
  return { name, isFlat, prepare: async (server) => ({ run: () => timed(articles(server), (articleId) => send(server, articleId)) }) };
}
