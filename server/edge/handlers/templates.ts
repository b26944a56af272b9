/**
 * `createTemplateHandlers` connects the operations of `api/contract/templates.ts` to their services.
 *
 * Templates are a plain resource whose service is its handlers. Only the creation of an article from a template is
 * served by the articles.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { Articles } from "../../domain/articles/articles.ts";
import type { Handlers } from "../../domain/call/call.ts";
import { accessOf } from "../../domain/call/principal.ts";
import type { TemplateService } from "../../domain/templates/service.ts";
import { toCreatedReply } from "./articles.ts";

export interface TemplateServices extends Pick<TemplateService, "templates"> {
  readonly articles: Pick<Articles, "create">;
}

export function createTemplateHandlers({ templates, articles }: TemplateServices) {
  return {
    ...templates,
    instantiate: {
      serve: ({ params, body }, call) => articles.create({ ...body, ...params, workspaceId: accessOf(call).workspaceId }, call),
      reply: toCreatedReply,
    },
  } satisfies Handlers<AppContract>["templates"];
}
