/** Lists all operations of the service by resource. The key path is the tRPC path and the OpenAPI operationId. */

import { accounts } from "./accounts.ts";
import { articles } from "./articles.ts";
import { auth } from "./auth.ts";
import { commits } from "./commits.ts";
import { content } from "./content.ts";
import { conversions } from "./conversions.ts";
import { folders } from "./folders.ts";
import { jobs } from "./jobs.ts";
import { keys } from "./keys.ts";
import { members } from "./members.ts";
import type { Contract } from "./operation.ts";
import { publicLinks } from "./publicLinks.ts";
import { reviews } from "./reviews.ts";
import { runs } from "./runs.ts";
import { templates } from "./templates.ts";
import { topics } from "./topics.ts";
import { webhooks } from "./webhooks.ts";
import { workflows } from "./workflows.ts";
import { workspaces } from "./workspaces.ts";

/** The type is written out so that the compiler refers to the parts by name instead of inlining them. */
export type AppContract = {
  readonly auth: typeof auth;
  readonly accounts: typeof accounts;
  readonly keys: typeof keys;
  readonly workspaces: typeof workspaces;
  readonly members: typeof members;
  readonly folders: typeof folders;
  readonly articles: typeof articles;
  readonly content: typeof content;
  readonly commits: typeof commits;
  readonly reviews: typeof reviews;
  readonly templates: typeof templates;
  readonly publicLinks: typeof publicLinks;
  readonly conversions: typeof conversions;
  readonly webhooks: typeof webhooks;
  readonly topics: typeof topics;
  readonly workflows: typeof workflows;
  readonly runs: typeof runs;
  readonly jobs: typeof jobs;
};

/** Name of an operation: `articles.get`. It is the tRPC path and the OpenAPI `operationId`. */
export type OperationKey = {
  readonly [Resource in keyof AppContract]: `${Resource}.${keyof AppContract[Resource] & string}`;
}[keyof AppContract];

export const contract: AppContract = {
  auth,
  accounts,
  keys,
  workspaces,
  members,
  folders,
  articles,
  content,
  commits,
  reviews,
  templates,
  publicLinks,
  conversions,
  webhooks,
  topics,
  workflows,
  runs,
  jobs,
} satisfies Contract;

/** Descriptions of the resources, for the OpenAPI document. */
export const resourceDescriptions: { readonly [Resource in keyof AppContract]: string } = {
  auth: "Sign in and out, and read the credential of the request.",
  accounts: "Accounts of people, managed by operators.",
  keys: "API keys, the credentials of programs.",
  workspaces: "Workspaces: each groups people, articles, topics and webhooks.",
  members: "Members and invited collaborators of a workspace, with their rights.",
  folders: "Folders: the tree in which articles are kept. A folder can be a content project with topics of its own.",
  articles: "Articles: Markdown documents that people and programs edit at the same time.",
  content: "The text of an article: read it, and edit it while others edit it too.",
  commits: "Commits: kept revisions of an article, and the differences between two revisions.",
  reviews: "Reviews: comments and suggestions about places of a text, with replies.",
  templates: "Templates: texts with placeholders that articles start with.",
  publicLinks: "Public pages of articles, Live or as a Snapshot.",
  conversions: "Conversions of documents between Markdown, HTML, DOCX, PDF, plain text and JSON.",
  webhooks: "Webhooks: addresses that receive signed requests when events occur.",
  topics: "Ideas for articles on their way to a draft, with approvals and an audit trail.",
  workflows: "Workflows: the steps that agents can execute.",
  runs: "Runs: executions of workflows, with their state, approvals, artifacts and timeline.",
  jobs: "Jobs: long work that requests have started, with its progress and its result.",
};
