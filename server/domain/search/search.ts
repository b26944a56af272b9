/**
 * Search answers a full-text search in one workspace.
 *
 * The index only proposes records. Each proposed record is read from the store before it is answered, and title and
 * snippet are made of the current record. So an index that is behind never shows a record that was moved to the trash,
 * and never an older text ([SR4]).
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { SearchHit } from "../../../api/schema/search.ts";
import { missingScopes, type Scope } from "../../../api/scopes.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Call, Principal } from "../call/call.ts";
import { toPageLimit } from "../call/paging.ts";
import type { Follower, IndexState } from "./follower.ts";
import type { FoundDocument } from "./indexFile.ts";
import { toFolderPlace, toPlace } from "./places.ts";
import type { SearchItem, SearchSource } from "./port.ts";
import { parseQuery, toExpression } from "./query.ts";
import { type SearchIndex, UnusableIndex } from "./searchIndex.ts";

export interface SearchRequest {
  readonly workspaceId: string;
  readonly q: string;
  /** Names of sources; `articles` by default. */
  readonly in?: readonly string[] | undefined;
  readonly folderId?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly limit?: number | undefined;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  readonly state: IndexState;
}

/** Throws `validation_failed` for a query that can find nothing, and `unavailable` while this node has no index. */
export type Search = (request: SearchRequest, call: Pick<Call, "principal">) => Promise<SearchAnswer>;

export interface SearchOptions {
  readonly index: Pick<SearchIndex, "find" | "snippets">;
  readonly follower: Pick<Follower, "wake" | "stateOf" | "rebuild">;
  readonly sources: readonly SearchSource[];
  readonly limits: Pick<Limits, "list.limitDefault" | "list.limitMax" | "search.words" | "search.ranked">;
}

/** Documents that are found in addition to the wanted ones, in place of those that the store no longer has. */
const spare = 50;

interface Candidate {
  readonly source: SearchSource;
  readonly item: SearchItem;
  readonly score: number;
}

function refuse(pointer: string, message: string): AppError {
  return new AppError("validation_failed", `The parameter ${pointer.slice(1)} ${message}.`, {
    errors: [{ pointer, code: "custom", message }],
  });
}

/** Every search needs `articles:read`, which the contract has checked; the answer names it with the scopes of the sources. */
function requireScopes(principal: Principal | undefined, sources: readonly SearchSource[]): void {
  const wanted = [...new Set<Scope>(["articles:read", ...sources.flatMap(({ scopes }) => scopes)])];
  const missing = principal?.kind === "key" ? missingScopes(principal.scopes, wanted) : [];
  if (missing.length === 0) return;
  const detail = `This API key lacks the scope ${missing.join(", ")}, which the values of 'in' need.`;
  throw new AppError("insufficient_scope", detail, { requiredScopes: [...wanted], missingScopes: [...missing] });
}

export function createSearch({ index, follower, sources, limits }: SearchOptions): Search {
  /** Returns the chosen sources. Refuses a filter that one of them does not have, because it would never find anything there. */
  function choose({ in: names = ["articles"], status }: SearchRequest): readonly SearchSource[] {
    const chosen = sources.filter(({ name }) => names.includes(name));
    if (status === undefined) return chosen;
    for (const source of chosen) {
      if (statusesOf(source, status).length > 0) continue;
      const reason = source.statuses === undefined ? "have no status" : "have none of these states";
      throw refuse("/status", `cannot be used while 'in' contains ${source.name}, which ${reason}`);
    }
    for (const [at, each] of status.entries()) {
      if (!chosen.some(({ statuses }) => statuses?.all.includes(each) === true))
        throw refuse(`/status/${at}`, `is a state that ${names.join(" and ")} do not have`);
    }
    return chosen;
  }

  /** The states in which records of the source are searched; `undefined` stands for records without a state. */
  function statusesOf({ statuses }: SearchSource, asked: readonly string[] | undefined): readonly (string | undefined)[] {
    if (statuses === undefined) return asked === undefined ? [undefined] : [];
    return asked === undefined ? statuses.searched : asked.filter((status) => statuses.all.includes(status));
  }

  async function find(workspaceId: string, expression: string, limit: number): Promise<readonly FoundDocument[]> {
    try {
      return await index.find(workspaceId, { expression, ranked: limits["search.ranked"], limit });
    } catch (reason) {
      if (!(reason instanceof UnusableIndex)) throw reason;
      follower.rebuild();
      return [];
    }
  }

  /** Reads the proposed records from the store and keeps those that the request may find now. */
  async function readCurrent(
    found: readonly FoundDocument[],
    chosen: readonly SearchSource[],
    { workspaceId, folderId, status }: SearchRequest,
  ): Promise<readonly Candidate[]> {
    const bySource = await Promise.all(
      chosen.map(async (source) => {
        const keys = found.filter(({ type }) => type === source.record.name).map(({ key }) => key);
        const items = await source.read(keys);
        return keys.map((key, at) => [key, { source, item: items[at] }] as const);
      }),
    );
    const current = new Map(bySource.flat());
    return found.flatMap(({ key, score }) => {
      const { source, item } = current.get(key) ?? {};
      if (source === undefined || item?.workspaceId !== workspaceId) return [];
      if (folderId !== undefined && item.folderId !== folderId) return [];
      return statusesOf(source, status).includes(item.status) ? [{ source, item, score }] : [];
    });
  }

  return async (request, { principal }) => {
    const { workspaceId, q, folderId, status } = request;
    const chosen = choose(request);
    requireScopes(principal, chosen);
    const limit = toPageLimit(request.limit, limits);
    const terms = parseQuery(q, limits["search.words"]);
    const places = chosen.flatMap((source) => statusesOf(source, status).map((each) => toPlace(workspaceId, source, each)));
    const expression = toExpression(terms, { places, folder: folderId === undefined ? undefined : toFolderPlace(folderId) });
    follower.wake();
    const found = await find(workspaceId, expression, limit + spare);
    // The state is read after the index: a build that ended between the two has found everything.
    const state = follower.stateOf(partitionOfId(workspaceId));
    if (state === undefined) {
      throw new AppError("unavailable", "This node cannot open its search index at the moment; retry shortly.", { retryAfter: 5 });
    }
    const candidates = (await readCurrent(found, chosen, request)).slice(0, limit);
    const texts = await Promise.all(candidates.map(({ item }) => item.texts()));
    const hits = texts.map(({ body, extra }) => [...body, ...extra]);
    const snippets = candidates.length === 0 ? [] : await index.snippets(workspaceId, { terms, hits });
    const best = candidates[0]?.score ?? 1;
    return {
      state,
      hits: candidates.map(({ source: { kind }, item, score }, at) => ({
        kind,
        id: item.id,
        ...(item.articleId === undefined ? {} : { articleId: item.articleId }),
        ...(item.topicId === undefined ? {} : { topicId: item.topicId }),
        title: item.title,
        snippet: snippets[at] ?? "",
        score: toShare(score, best),
        updatedAt: item.updatedAtMs / 1000,
      })),
    };
  };
}

/**
 * Relevance in relation to the best hit, to three places. The plain value would depend on the texts of other workspaces,
 * because the index counts how rare a word is over all of them.
 */
function toShare(score: number, best: number): number {
  return Math.max(0.001, Math.round((1000 * score) / best) / 1000);
}
