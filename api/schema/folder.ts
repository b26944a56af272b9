/**
 * Defines the schemas of folders (api decisions: content shapes). All schemas refuse unknown fields.
 *
 * A folder with `contentProject` is a content project: topics belong to it, and its settings apply to their runs.
 */
import { z } from "zod";
import { flag, Line, text, unixSeconds } from "./common.ts";
import { FolderId, idText, WorkspaceId } from "./id.ts";
import { KeywordMarketLocale } from "./seo.ts";
import { WordCountRange } from "./topic.ts";
import { prose, StyleProfileId } from "./topicOperations.ts";

const outlineApproval = flag("Whether a person must approve an outline before its draft is written.", true);
const draftApproval = flag("Whether a person must approve a draft.", false);

const optionalSettings = {
  wordCountRange: WordCountRange.optional(),
  styleProfileId: StyleProfileId.optional(),
  marketLocale: KeywordMarketLocale.describe("Market of the keywords.").optional(),
  includeGlobalVolume: flag("Whether keyword figures include the volume of all markets.", false).optional(),
} as const;

export const ContentProject = z
  .strictObject({ requireOutlineApproval: outlineApproval, requireDraftApproval: draftApproval, ...optionalSettings })
  .meta({ id: "ContentProject", description: "Settings of a content project. They apply to the runs of its topics." });
export type ContentProject = z.infer<typeof ContentProject>;

/** Approvals that are left out are required. */
export const ContentProjectSettings = z
  .strictObject({
    requireOutlineApproval: outlineApproval.optional(),
    requireDraftApproval: draftApproval.optional(),
    ...optionalSettings,
  })
  .meta({ id: "ContentProjectSettings", description: "Settings of a content project. Approvals that are left out are required." });
export type ContentProjectSettings = z.infer<typeof ContentProjectSettings>;

export const Folder = z
  .strictObject({
    folderId: idText("fld", "Id of the folder."),
    workspaceId: idText("ws", "Workspace that the folder belongs to."),
    parentFolderId: text("Folder that contains this one; null at the top level.", "fld_01KAHX0000050123456789ABCD").nullable(),
    name: text("Name, unique among the folders of the same parent without regard to case.", "Guides"),
    slug: text("Short name, unique in the workspace, created from the first name.", "guides"),
    createdAt: unixSeconds("When the folder was created."),
    updatedAt: unixSeconds("When the folder last changed. Changes of its contents do not count."),
    contentProject: ContentProject.optional(),
    archivedAt: unixSeconds("When the folder was archived. Absent if it is not archived.").optional(),
  })
  .meta({ id: "Folder", description: "A folder without its contents." });
export type Folder = z.infer<typeof Folder>;

const Name = Line(200).meta({ description: "Name, 1 to 200 characters.", example: "Guides" });
const Parent = FolderId.nullable().describe("Folder that contains this one; null for the top level.");

export const CreateFolderRequest = z
  .strictObject({
    workspaceId: WorkspaceId.describe("Workspace in which the folder is created."),
    name: Name,
    parentFolderId: Parent.optional(),
    contentProject: ContentProjectSettings.optional(),
  })
  .meta({ id: "CreateFolderRequest", description: "The folder to create." });
export type CreateFolderRequest = z.infer<typeof CreateFolderRequest>;

export const UpdateFolderRequest = z
  .strictObject({
    name: Name.optional(),
    parentFolderId: Parent.optional(),
    contentProject: ContentProjectSettings.nullable()
      .describe("Settings that replace the present ones; null makes the folder an ordinary one.")
      .optional(),
  })
  .meta({ id: "UpdateFolderRequest", description: "The fields to change. Fields that are left out do not change." });
export type UpdateFolderRequest = z.infer<typeof UpdateFolderRequest>;

export const FolderNoteRequest = z
  .strictObject({
    note: prose(
      "Reason. It is stored with each topic that is archived, and in the audit log of the server.",
      "The campaign is over.",
    ).optional(),
  })
  .meta({ id: "FolderNoteRequest", description: "Reason for the change." });
export type FolderNoteRequest = z.infer<typeof FolderNoteRequest>;

export const FolderJobStarted = z
  .strictObject({ jobId: idText("job", "The job that changes the topics; read it with `GET /jobs/{jobId}`."), folder: Folder })
  .meta({ id: "FolderJobStarted", description: "The changed folder, and the job that changes its topics." });
export type FolderJobStarted = z.infer<typeof FolderJobStarted>;
