/** Defines the schemas of templates, the resource of docs/guides/addAResource.md. */
import { z } from "zod";
import { Line, text, unixSeconds } from "../../api/schema/common.ts";
import { idPattern, idText } from "../../api/schema/id.ts";

export const TemplateId = z
  .string()
  .regex(idPattern("tpl"), "must be an id of the form tpl_ followed by 26 characters")
  .meta({ description: "Id of a template: `tpl_` and 26 characters.", example: "tpl_01KAHX0000050123456789ABCD" });

const Name = Line(120).meta({ description: "Name, unique in the workspace without regard to case.", example: "Release notes" });
const Content = z.string().meta({ description: "Markdown that a new article starts with.", example: "# Release notes\n" });

export const Template = z
  .strictObject({
    templateId: idText("tpl", "Id of the template."),
    workspaceId: idText("ws", "Workspace that the template belongs to."),
    name: text("Name of the template.", "Release notes"),
    content: text("Markdown that a new article starts with.", "# Release notes\n"),
    createdAt: unixSeconds("When the template was created."),
    updatedAt: unixSeconds("When the template last changed."),
  })
  .meta({ id: "Template", description: "A text that articles start with." });
export type Template = z.infer<typeof Template>;

export const CreateTemplateRequest = z
  .strictObject({ name: Name, content: Content.optional() })
  .meta({ id: "CreateTemplateRequest", description: "The template to create." });

export const UpdateTemplateRequest = CreateTemplateRequest.partial().meta({
  id: "UpdateTemplateRequest",
  description: "The fields to change; what is left out stays.",
});
