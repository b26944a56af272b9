import { z } from "zod";
import { inWorkspace, resource } from "../../api/contract/resource.ts";
import { pageQuery } from "../../api/schema/common.ts";
import { WorkspaceId } from "../../api/schema/id.ts";
import { CreateTemplateRequest, Template, TemplateId, UpdateTemplateRequest } from "./schema.ts";

const access = { credential: "any", resource: inWorkspace } as const;

const template = resource({
  one: "a template",
  many: "templates",
  field: "templates",
  path: "/workspaces/{workspaceId}/templates",
  params: z.strictObject({ workspaceId: WorkspaceId }),
  id: { templateId: TemplateId },
  schema: Template,
  read: { ...access, scopes: ["workspaces:read"], role: "read" },
  write: { ...access, scopes: ["workspaces:write"], role: "write" },
});

export const templates = {
  create: template.create(CreateTemplateRequest, {
    errors: ["name_taken"],
    description: "Names are compared without regard to case.",
    example: { name: "Release notes", content: "# Release notes\n" },
  }),
  list: template.list({
    query: z.strictObject({
      ...pageQuery,
      startsWith: z.string().max(120).meta({ description: "Only templates whose name starts with this text.", example: "Rel" }).optional(),
      sort: z.enum(["createdAt", "name"]).describe("What to order by: `createdAt`, newest first (default), or `name`.").optional(),
    }),
    description: "With their texts.",
  }),
  get: template.get({ description: "Its name and its text." }),
  update: template.update(UpdateTemplateRequest, {
    errors: ["name_taken"],
    description: "Articles that were made from the template stay as they are.",
    example: { name: "Notes of a release" },
  }),
  delete: template.delete({ description: "Articles that were made from the template stay." }),
} as const;
