/** LinkList lists the public links of a workspace with the titles of their pages. */
import type { PublicLinkMode } from "../../../api/schema/article.ts";
import type { ListedPublicLink, PublicLink } from "../../../api/schema/publicLink.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import type { PageQuery, Pager } from "../call/paging.ts";
import { titleOf, toPublicLink } from "./publicLinkView.ts";
import { linksOf, publicLinkRecord } from "./records.ts";

export interface LinkQuery extends PageQuery {
  readonly workspaceId: string;
  readonly mode?: PublicLinkMode | undefined;
  readonly state?: PublicLink["state"] | undefined;
}

export type ListLinks = (
  call: Call,
  query: LinkQuery,
) => Promise<{ readonly publicLinks: readonly ListedPublicLink[]; readonly nextToken?: string }>;

export interface LinkListOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly pager: Pager;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export function createLinkList({ storage, pager, baseUrl }: LinkListOptions): ListLinks {
  return async (call, { workspaceId, mode, state, limit, nextToken }) => {
    if (call.access === undefined) throw new Error("a list of public links needs a workspace");
    const { items, ...rest } = await pager.page<ListedPublicLink>({
      scope: `public-links?mode=${mode ?? ""}&state=${state ?? ""}`,
      partition: call.access.partition,
      prefix: linksOf(workspaceId),
      reverse: true,
      limit,
      nextToken,
      async load(keys) {
        const [links, articles] = await Promise.all([
          storage.records.getMany(publicLinkRecord, keys),
          storage.records.getMany(articleRecord, keys),
        ]);
        return links.map((stored, at) => {
          const article = articles[at];
          const link = stored === undefined ? undefined : toPublicLink(stored.value, baseUrl, storage.now());
          if (stored === undefined || link === undefined || article === undefined) return undefined;
          return { ...link, title: titleOf(stored.value, article.value) };
        });
      },
      keep: (link) => (mode === undefined || link.mode === mode) && (state === undefined || link.state === state),
    });
    return { publicLinks: items, ...rest };
  };
}
