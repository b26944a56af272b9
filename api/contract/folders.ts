import { z } from "zod";
import { pageQuery } from "../schema/common.ts";
import { CreateFolderRequest, Folder, FolderJobStarted, FolderNoteRequest, UpdateFolderRequest } from "../schema/folder.ts";
import { FolderId, WorkspaceId } from "../schema/id.ts";
import { JobStarted } from "../schema/job.ts";
import { operation } from "./operation.ts";
import { resource } from "./resource.ts";

const params = z.strictObject({ folderId: FolderId });
const byId = { kind: "folder", in: "params", name: "folderId" } as const;

const folder = resource({
  one: "a folder",
  many: "folders",
  field: "folders",
  path: "/folders",
  id: { folderId: FolderId },
  schema: Folder,
  read: { credential: "any", scopes: ["folders:read"], resource: byId, role: "read" },
  write: { credential: "any", scopes: ["folders:write"], resource: byId, role: "write" },
});

const lifecycle = {
  method: "POST",
  params,
  bodies: { "application/json": FolderNoteRequest },
  bodyOptional: true,
  replies: { 202: FolderJobStarted },
  location: "/jobs/{jobId}",
  credential: "any",
  scopes: ["folders:write", "workspaces:write"],
  resource: byId,
  role: "write",
  errors: ["invalid_transition"],
} as const;

export const folders = {
  create: folder.create(CreateFolderRequest, {
    resource: { kind: "workspace", in: "body", name: "workspaceId" },
    errors: ["name_taken", "limit_reached"],
    description:
      "A name is unique among the folders of the same parent, without regard to case. A workspace has at most 5,000 folders, and a folder at the top level contains at most 19 further levels.",
    example: { workspaceId: "ws_01KAHX0000050123456789ABCD", name: "Guides", contentProject: { requireDraftApproval: false } },
  }),
  list: folder.list({
    query: z.strictObject({
      ...pageQuery,
      workspaceId: WorkspaceId.describe("Workspace whose folders are listed."),
      parentFolderId: z
        .union([FolderId, z.literal("null")], { error: "must be a folder's id (fld_…) or null" })
        .meta({
          description:
            "Only the folders directly in this folder; `null` for those at the top level. Without it, the folders of all levels.",
          example: "null",
        })
        .optional(),
      archived: z.boolean().describe("`true`: only archived folders; `false`: only others. Without it, both.").optional(),
    }),
    resource: { kind: "workspace", in: "query", name: "workspaceId" },
    summary: "List the folders of a workspace, newest first",
    description: "Sorted by the time of creation. Folders that are being deleted are not listed.",
  }),
  get: folder.get({ description: "The folder without its contents, also while it is archived." }),
  update: folder.update(UpdateFolderRequest, {
    errors: ["name_taken", "cycle", "limit_reached"],
    summary: "Rename or move a folder, or change its content project",
    description:
      "A folder moves with everything in it. A folder cannot be moved into itself or into a folder below it (409 `cycle`). The slug stays.",
    example: { name: "Handbooks", parentFolderId: null },
  }),
  delete: folder.delete({
    query: z.strictObject({
      recursive: z.boolean().describe("`true` deletes the folder with its contents; `false` by default.").optional(),
    }),
    replies: { 202: JobStarted, 204: null },
    errors: ["folder_not_empty"],
    summary: "Delete an empty folder, or a folder with its contents (`recursive`)",
    description:
      "With `recursive`, the folder is gone at once and a job deletes its contents: articles go to the trash, subfolders are deleted, and topics no longer belong to a content project. Without it, a folder that contains articles, folders or topics is refused. Articles in the trash do not count.",
  }),
  archive: operation({
    ...lifecycle,
    path: "/folders/{folderId}/archive",
    summary: "Archive a folder and its topics",
    description:
      "The folder is archived at once; a job archives its topics and cancels their runs. An archived folder accepts no new articles, folders or topics. Its articles and subfolders stay as they are.",
    example: { note: "The campaign is over." },
  }),
  restore: operation({
    ...lifecycle,
    path: "/folders/{folderId}/restore",
    summary: "Restore an archived folder and the topics that were archived with it",
    description:
      "The folder is restored at once. A job restores the topics that were archived with the folder; other archived topics stay archived.",
    example: { note: "The campaign goes on." },
  }),
} as const;
