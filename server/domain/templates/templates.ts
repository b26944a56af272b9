/**
 * This module serves the operations on templates. The articles create articles from them.
 *
 * A page of a list is bounded by the bytes of its texts, because a page of the longest templates would have 200 MiB.
 */
import type { Logger } from "pino";
import type { templates as contract } from "../../../api/contract/templates.ts";
import { notFound } from "../../../api/schema/error.ts";
import type { Template, TemplateVariable } from "../../../api/schema/template.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { collectionList } from "../../platform/storage/collectionRecord.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { requireAccepted, requireFits } from "../call/acceptedText.ts";
import { type Call, type Handlers, Versioned } from "../call/call.ts";
import { createCollection } from "../call/collection.ts";
import type { Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { present } from "../call/present.ts";
import { accessOf, principalOf } from "../call/principal.ts";
import { toTitleSearch } from "../call/titleWords.ts";
import { createRoleCheck } from "../identity/workspaces/access.ts";
import { type TemplateRecord, templateLists, templateNameRule, templateRecord } from "./records.ts";
import type { FoundTemplate, TemplateTexts } from "./templateTexts.ts";

export interface TemplatesOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly texts: TemplateTexts;
  readonly pager: Pager;
  readonly log: Logger;
}

type TemplateHandlers = Omit<Handlers<{ templates: typeof contract }>["templates"], "instantiate">;

/** Bytes of the texts of one page, about what two of the longest templates have. */
const maxPageBytes = 4 * 1024 * 1024;

function toTemplate(template: TemplateRecord): Omit<Template, "content"> {
  const { templateId, workspaceId, name, description, articleType, articleFormat, variables, createdBy, createdAtMs, updatedAtMs } =
    template;
  return {
    ...{ templateId, workspaceId, name, description, createdBy },
    ...present({ articleType, articleFormat }),
    variables: variables.map(({ name, label, required }) => ({ name, label, required })),
    createdAt: createdAtMs / 1000,
    updatedAt: updatedAtMs / 1000,
  };
}

interface GivenVariable {
  readonly name: string;
  readonly label?: string | undefined;
  readonly required?: boolean | undefined;
}

function toVariables(given: readonly GivenVariable[]): readonly TemplateVariable[] {
  return given.map(({ name, label = name, required = false }) => ({ name, label, required }));
}

export function createTemplates({ storage, actors, texts, pager, log }: TemplatesOptions): TemplateHandlers {
  const templates = createCollection<TemplateRecord, Omit<Template, "content">>({
    storage,
    actors,
    pager,
    record: templateRecord,
    many: "templates",
    toView: toTemplate,
    authorize: createRoleCheck(storage, "write"),
    limit: "template.perWorkspace",
    taken: { [templateNameRule]: "The workspace has a template with this name." },
    log,
  });

  function requireContent(content: string, call: Call): void {
    requireAccepted(content, "content");
    requireFits(content, call.limits["article.file"]);
  }

  /** The template with its text, or nothing if it was deleted while the page was read. */
  async function toShown(template: TemplateRecord): Promise<readonly Template[]> {
    const content = await texts.read(template);
    if (content !== undefined) return [{ ...toTemplate(template), content }];
    const current = await texts.find(template.workspaceId, template.templateId);
    return current === undefined ? [] : [{ ...toTemplate(current.stored.value), content: current.content }];
  }

  async function require(workspaceId: string, templateId: string): Promise<FoundTemplate> {
    const found = await texts.find(workspaceId, templateId);
    if (found === undefined) throw notFound();
    return found;
  }

  return {
    async create({ body }, call) {
      const { workspaceId, name, description = "", content, articleType, articleFormat, variables = [] } = body;
      requireContent(content, call);
      const text = await texts.store(workspaceId, content);
      return templates.create(call, workspaceId, (templateId, base) => ({
        value: {
          ...base,
          ...{ templateId, name, description },
          ...text,
          ...present({ articleType, articleFormat }),
          variables: toVariables(variables),
          createdBy: principalOf(call).username,
        },
        shown: { content },
      }));
    },

    async list({ query: { workspaceId, q, sort = "createdAt", order = sort === "name" ? "asc" : "desc", limit, nextToken } }) {
      const search = q === undefined ? undefined : toTitleSearch(q);
      const { items, ...rest } = await pager.page<TemplateRecord>({
        scope: `templates?${JSON.stringify([q ?? null, sort])}`,
        partition: partitionOfId(workspaceId),
        prefix: sort === "name" ? templateLists.byName(workspaceId) : collectionList(templateRecord, workspaceId),
        reverse: order === "desc",
        limit,
        nextToken,
        load: async (ids) => (await storage.records.getMany(templateRecord, ids)).map((stored) => stored?.value),
        keep: search === undefined ? undefined : ({ name }) => search.matches(name),
        weight: { of: ({ contentBytes }) => contentBytes, max: maxPageBytes },
      });
      return { items: (await Promise.all(items.map(toShown))).flat(), ...rest };
    },

    async get({ params: { templateId } }, call) {
      const { stored, content } = await require(accessOf(call).workspaceId, templateId);
      return new Versioned({ ...toTemplate(stored.value), content }, stored.revision);
    },

    async update({ params: { templateId }, body: { content, articleType, articleFormat, variables, ...fields } }, call) {
      const { workspaceId } = accessOf(call);
      if (content !== undefined) requireContent(content, call);
      // Reject a missing template or a failed If-Match before the text is stored.
      requireMatch(call, (await templates.read(workspaceId, templateId)).revision);
      const text = content === undefined ? {} : await texts.store(workspaceId, content);
      return templates.change(call, workspaceId, templateId, async ({ articleType: type, articleFormat: format, ...before }) => ({
        value: {
          ...before,
          ...present(fields),
          ...text,
          ...present({
            articleType: articleType === null ? undefined : (articleType ?? type),
            articleFormat: articleFormat === null ? undefined : (articleFormat ?? format),
            variables: variables === undefined ? undefined : toVariables(variables),
          }),
        },
        shown: { content: content ?? (await require(workspaceId, templateId)).content },
      }));
    },

    delete: ({ params: { templateId } }, call) => templates.remove(call, accessOf(call).workspaceId, templateId),
  };
}
