import { z } from "zod";
import { defaultLimits } from "../limits.ts";
import { WorkspaceId } from "../schema/id.ts";
import { SearchName, SearchResponse, SearchStatus } from "../schema/search.ts";
import {
  CreateWorkspaceRequest,
  CreateWorkspaceResponse,
  UpdateWorkspaceRequest,
  Workspace,
  WorkspaceMessageResponse,
} from "../schema/workspace.ts";
import { operation } from "./operation.ts";
import { inWorkspace, resource } from "./resource.ts";

const workspace = resource({
  one: "a workspace",
  many: "workspaces",
  field: "workspaces",
  path: "/workspaces",
  id: { workspaceId: WorkspaceId },
  schema: Workspace,
  read: { credential: "any", scopes: ["workspaces:read"] },
  write: { credential: "any", scopes: ["workspaces:write"] },
});

export const workspaces = {
  create: workspace.create(CreateWorkspaceRequest, {
    replies: { 201: CreateWorkspaceResponse },
    replyHeaders: {},
    summary: "Create a workspace owned by the caller",
    description: "The caller becomes the owner and can add members.",
    example: { name: "Editorial team", type: "team" },
  }),
  list: workspace.list({
    summary: "List the workspaces that the caller can see, each with the caller's effective permission",
    description:
      "The list contains workspaces that the caller owns, or in which the caller is a member or collaborator. A key that is limited to some workspaces sees only these.",
  }),
  get: workspace.get({
    resource: inWorkspace,
    role: "read",
    summary: "Get a workspace",
    description: "The answer contains the members and the settings of the workspace.",
  }),
  update: workspace.update(UpdateWorkspaceRequest, {
    replies: { 200: WorkspaceMessageResponse },
    replyHeaders: {},
    resource: inWorkspace,
    role: "admin",
    summary: "Rename a workspace or merge new values into its settings",
    description:
      "Only administrators can change a workspace. `settings` is a JSON Merge Patch: `null` removes a member. Style profiles for runs are stored under `styleProfiles`.",
    example: { settings: { styleProfiles: { house: { content: "Short sentences. No jargon." } } } },
  }),
  search: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/search",
    params: z.strictObject({ workspaceId: WorkspaceId }),
    query: z.strictObject({
      q: z.string().min(1).max(200).meta({
        description:
          "What to find. Every word must occur; words in quotation marks must follow each other; the last word may be the beginning of a word of at least two letters. Other characters only separate words.",
        example: "power cut",
      }),
      in: z
        .array(SearchName)
        .min(1)
        .max(20)
        .describe(
          "What to look through; `articles` by default. Repeat the parameter for several. Topics need the scope `workspaces:read`, reviews the scope `reviews:read`.",
        )
        .optional(),
      folderId: z
        .string()
        .max(64)
        .meta({
          description: "Only articles in this folder itself, their reviews, and topics of this content project.",
          example: "fld_01KAHX0000050123456789ABCD",
        })
        .optional(),
      status: z
        .array(SearchStatus)
        .min(1)
        .max(20)
        .describe(
          "Only topics and reviews in one of these states; by default all but `archived`. Repeat the parameter for several. Every value must be a state of a searched kind, and every searched kind must have one of them.",
        )
        .optional(),
      limit: z
        .int()
        .min(1)
        .meta({
          description: `Number of hits: ${defaultLimits["list.limitDefault"]} by default, at most ${defaultLimits["list.limitMax"]} unless the server has another limit.`,
          example: 20,
        })
        .optional(),
    }),
    replies: { 200: SearchResponse },
    replyHeaders: {
      "x-svc-search-state":
        "`ready`, or `rebuilding` while this node indexes the workspace again: hits may then be missing, and none is wrong.",
    },
    credential: "any",
    scopes: ["articles:read"],
    resource: inWorkspace,
    role: "read",
    summary: "Find articles, topics and reviews by their words, the best hits first",
    description: `Articles are found by their title and by the text of their last commit or checkpoint, topics by their title and their editorial fields, reviews by their text and their replies. Titles count most, then content.md, then the other files. Case and accents do not matter: \`cafe\` finds "Café". Chinese, Japanese, Korean and Thai text is found by any part. A committed change is found within two seconds on every node. Each hit is read again from the store before it is answered, so a record in the trash or in another workspace is never shown, nor is a review of an article in the trash. A query has at most ${defaultLimits["search.words"]} words.`,
  }),
} as const;
