/**
 * Defines the schemas of templates: texts that articles start with, and the variables that are filled in. All schemas
 * refuse unknown fields.
 */
import { z } from "zod";
import { flag, Line, text, unixSeconds, username } from "./common.ts";
import { idText, WorkspaceId } from "./id.ts";
import { ArticleFormat, ArticleType } from "./topic.ts";

/** A placeholder in a template is a name of this form between double braces. */
const VariableName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "must be 1 to 64 of letters, digits, '_' and '-', starting with a letter")
  .meta({
    description: "Name: 1 to 64 ASCII letters, digits, `_` and `-`, starting with a letter. Case matters.",
    example: "product",
  });
const Label = Line(200).meta({ description: "Name for people, 1 to 200 characters.", example: "Name of the product" });

const TemplateVariable = z
  .strictObject({
    name: text("Name, as it stands in a placeholder.", "product"),
    label: text("Name for people.", "Name of the product"),
    required: flag("Whether an article needs a value that is not empty.", true),
  })
  .meta({ id: "TemplateVariable", description: "A part of a template that each article fills in." });
export type TemplateVariable = z.infer<typeof TemplateVariable>;

const TemplateVariableRequest = z
  .strictObject({
    name: VariableName,
    label: Label.describe("Name for people, 1 to 200 characters; the name by default.").optional(),
    required: flag("Whether an article needs a value that is not empty; false by default.", true).optional(),
  })
  .meta({ id: "TemplateVariableRequest", description: "A variable to declare." });

/** Values for the variables of a template. `body.freeForm` limits their size. */
export const VariableValues = z.record(z.string(), z.string()).meta({
  id: "VariableValues",
  description: "Values by the name of their variable; at most 64 KiB as JSON.",
  example: { product: "Kites" },
});

const maxVariables = 100;

const name = Line(120).meta({ description: "Name, unique in the workspace without regard to case.", example: "Release notes" });
const description = z
  .string()
  .max(2000)
  .meta({ description: "What the template is for, at most 2,000 characters; empty by default.", example: "For each release." });
const content = z.string().meta({
  description: "Markdown with placeholders such as `{{product}}`, at most 2 MiB as UTF-8.",
  example: "# {{product}}\n",
});
const variables = z
  .array(TemplateVariableRequest)
  .max(maxVariables)
  .refine((list) => new Set(list.map((variable) => variable.name)).size === list.length, "must not name a variable twice")
  .describe(`Variables, at most ${maxVariables}, each name once.`);
const articleType = ArticleType.describe("Type of the articles that the template is for.");
const articleFormat = ArticleFormat.describe("Format of the articles that the template is for.");

export const Template = z
  .strictObject({
    templateId: idText("tpl", "Id of the template."),
    workspaceId: idText("ws", "Workspace that the template belongs to."),
    name: text("Name of the template.", "Release notes"),
    description: text("What the template is for; can be empty.", "For each release."),
    content: text("Markdown with placeholders.", "# {{product}}\n"),
    articleType: articleType.optional(),
    articleFormat: articleFormat.optional(),
    variables: z.array(TemplateVariable).describe("Variables in the order in which they were given."),
    createdBy: username("Username of the account that created the template."),
    createdAt: unixSeconds("When the template was created."),
    updatedAt: unixSeconds("When the template last changed."),
  })
  .meta({ id: "Template", description: "A text that articles start with." });
export type Template = z.infer<typeof Template>;

export const CreateTemplateRequest = z
  .strictObject({
    workspaceId: WorkspaceId.describe("Workspace in which the template is created."),
    name,
    description: description.optional(),
    content,
    articleType: articleType.optional(),
    articleFormat: articleFormat.optional(),
    variables: variables.optional(),
  })
  .meta({ id: "CreateTemplateRequest", description: "The template to create." });

export const UpdateTemplateRequest = z
  .strictObject({
    name: name.optional(),
    description: description.optional(),
    content: content.optional(),
    articleType: articleType.nullable().optional(),
    articleFormat: articleFormat.nullable().optional(),
    variables: variables.optional(),
  })
  .meta({
    id: "UpdateTemplateRequest",
    description: "The fields to change. Fields that are left out do not change; null removes `articleType` and `articleFormat`.",
  });
