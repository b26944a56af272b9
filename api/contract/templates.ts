import { z } from "zod";
import { Article, InstantiateTemplateRequest } from "../schema/article.ts";
import { pageQuery } from "../schema/common.ts";
import { TemplateId, WorkspaceId } from "../schema/id.ts";
import { CreateTemplateRequest, Template, UpdateTemplateRequest } from "../schema/template.ts";
import { operation } from "./operation.ts";
import { resource } from "./resource.ts";

const params = z.strictObject({ templateId: TemplateId });
const byId = { kind: "template", in: "params", name: "templateId" } as const;

const template = resource({
  one: "a template",
  many: "templates",
  field: "templates",
  path: "/templates",
  id: { templateId: TemplateId },
  schema: Template,
  read: { credential: "any", scopes: ["templates:read"], resource: byId, role: "read" },
  write: { credential: "any", scopes: ["templates:write"], resource: byId, role: "write" },
});

export const templates = {
  create: template.create(CreateTemplateRequest, {
    documentText: true,
    resource: { kind: "workspace", in: "body", name: "workspaceId" },
    errors: ["name_taken", "limit_reached", "content_too_large", "content_not_accepted"],
    description:
      "`{{name}}` in the content, with or without spaces inside the braces, is a placeholder if `name` is a declared variable; other text between braces is text. A backslash before the braces keeps them: `\\{{name}}`. A workspace has at most 500 templates.",
    example: {
      workspaceId: "ws_01KAHX0000050123456789ABCD",
      name: "Release notes",
      content: "# {{product}} {{version}}\n",
      variables: [
        { name: "product", label: "Name of the product", required: true },
        { name: "version", required: true },
      ],
    },
  }),
  list: template.list({
    query: z.strictObject({
      ...pageQuery,
      workspaceId: WorkspaceId.describe("Workspace whose templates are listed."),
      q: z
        .string()
        .max(200)
        .meta({ description: "Only templates whose name has words that start with each of these words.", example: "release" })
        .optional(),
      sort: z
        .enum(["createdAt", "name"])
        .describe("Field to sort by; `createdAt` by default. Names are compared without case and diacritics.")
        .optional(),
      order: z.enum(["asc", "desc"]).describe("Sort direction; by default `asc` for `name`, otherwise `desc`.").optional(),
    }),
    resource: { kind: "workspace", in: "query", name: "workspaceId" },
    summary: "List the templates of a workspace, newest first or by name",
    description:
      "With their texts. A page ends early when the texts on it have more than 4 MiB, so it can have fewer items than its limit and still have a `nextToken`.",
  }),
  get: template.get({ description: "The template with its text and its variables." }),
  update: template.update(UpdateTemplateRequest, {
    documentText: true,
    errors: ["name_taken", "content_too_large", "content_not_accepted"],
    description: "Articles that were created from the template stay as they are. `variables` replaces the whole list.",
    example: { name: "Notes of a release" },
  }),
  delete: template.delete({ description: "Articles that were created from the template stay." }),
  instantiate: operation({
    method: "POST",
    path: "/templates/{templateId}/instantiate",
    params,
    bodies: { "application/json": InstantiateTemplateRequest },
    replies: { 201: Article },
    replyHeaders: {
      etag: 'Entity tag `"r<revision>-<record revision>"` of the article',
    },
    location: "/articles/{articleId}",
    credential: "any",
    scopes: ["templates:read", "articles:write"],
    resource: byId,
    role: "write",
    errors: ["content_too_large", "content_not_accepted"],
    summary: "Create an article from a template",
    description:
      "The same as `POST /articles` with `templateId`. Values are inserted as text: a placeholder inside a value is not replaced. A missing or empty value of a required variable, and a value of an unknown variable, answer 422 with a pointer to it; other variables without a value are empty.",
    example: { title: "Kites 2.0", variables: { product: "Kites", version: "2.0" } },
  }),
} as const;
