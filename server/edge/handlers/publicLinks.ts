/**
 * `createPublicLinkHandlers` connects the operations of `api/contract/publicLinks.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { LinkView, PublicLinks } from "../../domain/publishing/service.ts";

export function createPublicLinkHandlers({ links }: { readonly links: PublicLinks }): Handlers<AppContract>["publicLinks"] {
  return {
    get: {
      serve: ({ params }, call) => links.get(call, params.articleId),
      reply: ({ link, revision }: LinkView) => ({ status: 200, headers: { etag: recordEtag(revision) }, body: link }),
    },
    put: {
      serve: ({ params, body }, call) => links.put(call, params.articleId, body),
      reply: ({ link, created }: LinkView) =>
        created
          ? { status: 201, headers: { location: `/articles/${link.articleId}/public-link` }, body: link }
          : { status: 200, body: link },
    },
    update: {
      serve: ({ params, body }, call) => links.update(call, params.articleId, body),
      reply: ({ link }: LinkView) => ({ status: 200, body: link }),
    },
    refreshSnapshot: {
      serve: ({ params, body }, call) => links.refreshSnapshot(call, params.articleId, body),
      reply: ({ link }: LinkView) => ({ status: 200, body: link }),
    },
    sync: {
      serve: ({ params }, call) => links.sync(call, params.articleId),
      reply: ({ link }: LinkView) => ({ status: 202, body: link }),
    },
    delete: {
      serve: ({ params }, call) => links.unpublish(call, params.articleId),
      reply: () => ({ status: 204 }),
    },
    list: {
      serve: ({ params, query }, call) => links.list(call, { ...params, ...query }),
      reply: (body) => ({ status: 200, body }),
    },
  };
}
