/**
 * `createCommitHandlers` connects the operations of `api/contract/commits.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CommitReply } from "../../domain/articles/commits.ts";
import { toCommit } from "../../domain/articles/records.ts";
import type { ArticleService, BlameReply } from "../../domain/articles/service.ts";
import { type CallReply, type Handlers, Versioned } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import { type ContentForms, serveContent, toContentReply } from "./contentForms.ts";

type CommitServices = ContentForms & Pick<ArticleService, "commits" | "blame" | "restore">;

function toReply({ commit, created }: CommitReply): CallReply {
  return {
    status: created ? 201 : 200,
    headers: created ? { location: `/articles/${commit.articleId}/commits/${commit.commitId}` } : {},
    body: toCommit(commit),
  };
}

export function createCommitHandlers({ commits, content, textRenderer, blame, restore }: CommitServices) {
  return {
    create: { serve: ({ params, body }, call) => commits.create(params.articleId, body, call), reply: toReply },
    list: async ({ params, query }) => {
      const { items, ...rest } = await commits.list(params.articleId, query);
      return { items: items.map(toCommit), ...rest };
    },
    get: async ({ params }) => {
      const { commit, recordRevision } = await commits.get(params.articleId, params.commitId);
      return new Versioned(toCommit(commit), recordRevision);
    },
    content: {
      async serve({ params, query, accept }, call) {
        const { revision } = (await commits.get(params.articleId, params.commitId)).commit;
        return serveContent({ content, textRenderer }, params.articleId, { ...query, revision }, accept, call);
      },
      reply: toContentReply,
    },
    restore: { serve: ({ params, body }, call) => restore.restore(params.articleId, body, call), reply: toReply },
    blame: {
      serve: ({ params, query }) => blame.read(params.articleId, query),
      reply: ({ revision, contentHash, spans: { items, ...rest } }: BlameReply) => ({
        status: 200,
        headers: { etag: recordEtag(revision), "x-svc-content-hash": contentHash },
        body: { spans: items, ...rest },
      }),
    },
    diff: ({ params, query }, call) => content.diff(params.articleId, query, call),
  } satisfies Handlers<AppContract>["commits"];
}
