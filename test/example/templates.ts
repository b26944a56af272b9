/** This module serves the operations on templates. */
import type { Logger } from "pino";
import type { Handlers } from "../../server/domain/call/call.ts";
import { createCollection } from "../../server/domain/call/collection.ts";
import type { Pager } from "../../server/domain/call/paging.ts";
import { present } from "../../server/domain/call/present.ts";
import { createRoleCheck } from "../../server/domain/identity/workspaces/access.ts";
import type { ActorRuntime } from "../../server/platform/actors/port.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { templates as contract } from "./contract.ts";
import { type TemplateRecord, templateRecord, templatesByName } from "./records.ts";
import type { Template } from "./schema.ts";

export interface TemplatesOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly pager: Pager;
  readonly log: Logger;
}

function toTemplate({ createdAtMs, updatedAtMs, templateId, workspaceId, name, content }: TemplateRecord): Template {
  return { templateId, workspaceId, name, content, createdAt: createdAtMs / 1000, updatedAt: updatedAtMs / 1000 };
}

export function createTemplates({ storage, actors, pager, log }: TemplatesOptions): Handlers<{ templates: typeof contract }>["templates"] {
  const templates = createCollection<TemplateRecord, Template>({
    storage,
    actors,
    pager,
    record: templateRecord,
    many: "templates",
    toView: toTemplate,
    authorize: createRoleCheck(storage, "write"),
    taken: { "template.name": "The workspace has a template with this name." },
    log,
  });
  return {
    create: ({ params, body }, call) =>
      templates.create(call, params.workspaceId, (templateId, base) => ({
        value: { ...base, templateId, name: body.name, content: body.content ?? "" },
      })),
    list: ({ params: { workspaceId }, query: { startsWith = "", sort, ...page } }) =>
      templates.page(workspaceId, page, {
        name: JSON.stringify([startsWith, sort ?? "createdAt"]),
        index: sort === "name" ? { prefix: templatesByName(workspaceId), reverse: false } : undefined,
        keep: ({ name }) => name.toLowerCase().startsWith(startsWith.toLowerCase()),
      }),
    get: ({ params }) => templates.get(params.workspaceId, params.templateId),
    update: ({ params, body }, call) =>
      templates.change(call, params.workspaceId, params.templateId, (before) => ({ value: { ...before, ...present(body) } })),
    delete: ({ params }, call) => templates.remove(call, params.workspaceId, params.templateId),
  };
}
