/** Everything the service offers as an operation, by resource. The key path is the tRPC path and the OpenAPI operationId. */
import type { Contract } from "../operation.ts";
import { accounts } from "./accounts.ts";
import { articles } from "./articles.ts";
import { auth } from "./auth.ts";
import { commits } from "./commits.ts";
import { content } from "./content.ts";
import { keys } from "./keys.ts";
import { members } from "./members.ts";
import { publicLinks } from "./publicLinks.ts";
import { runs } from "./runs.ts";
import { topics } from "./topics.ts";
import { webhooks } from "./webhooks.ts";
import { workflows } from "./workflows.ts";
import { workspaces } from "./workspaces.ts";

/** Spelled out, so that the compiler names the parts instead of inlining them. */
export type AppContract = {
  readonly auth: typeof auth;
  readonly accounts: typeof accounts;
  readonly keys: typeof keys;
  readonly workspaces: typeof workspaces;
  readonly members: typeof members;
  readonly articles: typeof articles;
  readonly content: typeof content;
  readonly commits: typeof commits;
  readonly publicLinks: typeof publicLinks;
  readonly webhooks: typeof webhooks;
  readonly topics: typeof topics;
  readonly workflows: typeof workflows;
  readonly runs: typeof runs;
};

export const contract: AppContract = {
  auth,
  accounts,
  keys,
  workspaces,
  members,
  articles,
  content,
  commits,
  publicLinks,
  webhooks,
  topics,
  workflows,
  runs,
} satisfies Contract;
