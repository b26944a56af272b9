/**
 * `createPublicLinkHandlers` connects the operations of `api/contract/publicLinks.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { liveEtag } from "../../domain/call/precondition.ts";
import type { LinkView, Publishing } from "../../domain/publishing/service.ts";

function toHeaders({ findings }: LinkView): Record<string, string> {
  return findings === undefined ? {} : { "x-svc-gate-findings": String(findings) };
}

export function createPublicLinkHandlers({
  links,
  reportFindings,
  list,
  history,
}: Pick<Publishing, "links" | "reportFindings" | "list" | "history">): Handlers<AppContract>["publicLinks"] {
  const done = (view: LinkView) => ({ status: 200, headers: toHeaders(view), body: view.link });
  return {
    get: {
      serve: ({ params }, call) => links.get(call, params.articleId),
      reply: ({ link, revision, metaRevision }: LinkView) => ({
        status: 200,
        headers: { etag: liveEtag(revision, metaRevision) },
        body: link,
      }),
    },
    put: {
      serve: ({ params, body }, call) => links.put(call, params.articleId, body),
      reply(view: LinkView) {
        if (!view.created) return done(view);
        const location = `/articles/${view.link.articleId}/public-link`;
        return { status: 201, headers: { location, ...toHeaders(view) }, body: view.link };
      },
    },
    update: { serve: ({ params, body }, call) => links.update(call, params.articleId, body), reply: done },
    refreshSnapshot: { serve: ({ params, body }, call) => links.refreshSnapshot(call, params.articleId, body), reply: done },
    diff: ({ params, query }, call) => links.diff(call, params.articleId, query.format),
    findings: ({ params }) => reportFindings(params.articleId),
    history: ({ params, query }) => history.list(params.articleId, query),
    sync: {
      serve: ({ params }, call) => links.sync(call, params.articleId),
      reply: ({ link }: LinkView) => ({ status: 202, body: link }),
    },
    delete: ({ params }, call) => links.unpublish(call, params.articleId),
    list: ({ params, query }, call) => list(call, { ...params, ...query }),
  };
}
