/** Builds the templates domain: its requests, and the text that an article gets from a template. */
import type { Logger } from "pino";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { FillTemplate } from "../articles/port.ts";
import type { Pager } from "../call/paging.ts";
import { fillPlaceholders, toValues } from "./placeholders.ts";
import { createTemplates } from "./templates.ts";
import { createTemplateTexts } from "./templateTexts.ts";

export interface TemplateServiceOptions {
  readonly storage: Pick<Storage, "records" | "index" | "blobs">;
  readonly actors: Pick<ActorRuntime, "openUnit">;
  readonly pager: Pager;
  readonly log: Logger;
}

export interface TemplateService {
  /** The handlers of the operations on templates, without the one that creates an article. */
  readonly templates: ReturnType<typeof createTemplates>;
  /** For the articles. */
  readonly fill: FillTemplate;
}

export function createTemplateService({ storage, actors, pager, log }: TemplateServiceOptions): TemplateService {
  const texts = createTemplateTexts(storage);
  return {
    templates: createTemplates({ storage, actors, texts, pager, log }),
    async fill(workspaceId, templateId, given, maxBytes) {
      const found = await texts.find(workspaceId, templateId);
      if (found === undefined) return undefined;
      return fillPlaceholders(found.content, toValues(found.stored.value.variables, given), maxBytes);
    },
  };
}
