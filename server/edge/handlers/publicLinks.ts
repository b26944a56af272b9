/**
 * `createPublicLinkHandlers` connects the operations of `api/contract/publicLinks.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import { type Handlers, Versioned } from "../../domain/call/call.ts";
import type { LinkView, Publishing } from "../../domain/publishing/service.ts";

export function createPublicLinkHandlers({ links, history }: Pick<Publishing, "links" | "history">): Handlers<AppContract>["publicLinks"] {
  const done = ({ link }: LinkView) => ({ status: 200, body: link });
  return {
    get: ({ params }, call) => links.get(call, params.articleId).then(({ link, revision }) => new Versioned(link, revision)),
    put: {
      serve: ({ params, body }, call) => links.put(call, params.articleId, body),
      reply: ({ link, created }: LinkView) =>
        created
          ? { status: 201, headers: { location: `/articles/${link.articleId}/public-link` }, body: link }
          : { status: 200, body: link },
    },
    update: { serve: ({ params, body }, call) => links.update(call, params.articleId, body), reply: done },
    refreshSnapshot: { serve: ({ params, body }, call) => links.refreshSnapshot(call, params.articleId, body), reply: done },
    history: ({ params, query }) => history.list(params.articleId, query),
    sync: {
      serve: ({ params }, call) => links.sync(call, params.articleId),
      reply: ({ link }: LinkView) => ({ status: 202, body: link }),
    },
    delete: ({ params }, call) => links.unpublish(call, params.articleId),
    list: ({ params, query }, call) => links.list(call, { ...params, ...query }),
  };
}
