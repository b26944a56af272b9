/**
 * Creates an account with one resource of each kind, so that tests can request its ids as another caller. Also reads
 * all data of the account.
 */
import { exampleId, type IdPrefix } from "../../api/schema/id.ts";
import type { Rest } from "./clients.ts";
import { untilReturns } from "./untilReturns.ts";

/** Ids that belong to one account, each with its prefix. */
const prefixes = {
  workspaceId: "ws",
  articleId: "art",
  commitId: "cmt",
  reviewId: "rev",
  replyId: "rpl",
  templateId: "tpl",
  keyId: "key",
  webhookId: "whk",
  topicId: "top",
  runId: "run",
  approvalId: "apr",
  folderId: "fld",
  jobId: "job",
  conversionId: "cnv",
} as const satisfies Record<string, IdPrefix>;
export type IdName = keyof typeof prefixes;
export const idNames = Object.keys(prefixes) as readonly IdName[];
/** The other names are the same for every account. */
export type Ids = Readonly<Record<IdName | "username" | "workflowId" | "artifactKey", string>>;
export const commonNames = { workflowId: "draft", artifactKey: "outline-1" } as const;

/** Ids of nothing. An allowed request with them finds nothing to change. */
export const missingIds: Ids = {
  ...(Object.fromEntries(idNames.map((name) => [name, exampleId(prefixes[name])])) as Record<IdName, string>),
  username: "nobody-here",
  ...commonNames,
};

export interface SeededAccount {
  readonly rest: Rest;
  readonly ids: Ids;
}

/** `mark` is a word in every text of the account. The run waits for its decision, so nothing changes by itself. */
export async function seedAccount(rest: Rest, username: string, mark = "Kept"): Promise<SeededAccount> {
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: `${mark} house`, type: "team" });
  const inside = `/workspaces/${workspaceId}`;
  const content = `# ${mark}\n\nAs it was.\n`;
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: `${mark} article`, content });
  const { commitId } = await rest.expect(201, "POST", `/articles/${articleId}/commits`, { message: `${mark} first` });
  await rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content: mark, message: `${mark} second` });
  const reviews = `/articles/${articleId}/reviews`;
  const suggestion = { kind: "suggestion", anchor: { quote: "As it was." }, replacement: `${mark} otherwise.` };
  const { reviewId } = await rest.expect(201, "POST", reviews, { body: `${mark} for @${username}`, ...suggestion });
  await rest.expect(201, "POST", reviews, { body: `${mark} whole for @${username}` });
  const { replyId } = await rest.expect(201, "POST", `/reviews/${reviewId}/replies`, { body: `${mark} reply` });
  const template = { workspaceId, name: `${mark} template`, content: `# ${mark} {{what}}\n`, variables: [{ name: "what" }] };
  const { templateId } = await rest.expect(201, "POST", "/templates", template);
  const { keyId } = await rest.expect(201, "POST", "/api-keys", { name: `${mark} key`, scopes: ["articles:read"] });
  await rest.expect(201, "POST", "/api-keys", { name: `${mark} other key`, scopes: ["articles:read"] });
  const { webhookId } = await rest.expect(201, "POST", `${inside}/webhooks`, { url: `https://10.0.0.1/${mark}` });
  await rest.expect(201, "POST", `${inside}/webhooks`, { url: `https://10.0.0.1/${mark}/other` });
  await rest.expect(201, "PUT", `/articles/${articleId}/public-link`, { mode: "snapshot" });
  const { folderId } = await rest.expect(201, "POST", "/folders", { workspaceId, name: `${mark} folder`, contentProject: {} });
  const { folderId: other } = await rest.expect(201, "POST", "/folders", { workspaceId, name: `${mark} other`, parentFolderId: folderId });
  const { jobId } = await rest.expect(202, "POST", `/folders/${other}/archive`, { note: mark });
  const source = { content: `# ${mark}\n`, format: "markdown" };
  const wait = { prefer: "wait=30" };
  const { conversionId } = await rest.expect(201, "POST", "/conversions", { source, to: "txt" }, wait);
  const topic = { title: `${mark} in high wind`, targetAudience: "builders" };
  const { topicId } = await rest.expect(201, "POST", `${inside}/topics`, topic);
  await rest.expect(201, "POST", `${inside}/topics`, { ...topic, title: `${mark} in no wind` });
  const drafted = await rest.expect(201, "POST", `${inside}/topics/${topicId}/article`, {});
  const draft = { mode: "append", content: `${mark} draft`, message: `${mark} draft` };
  await rest.expect(200, "PATCH", `/articles/${drafted.articleId}/content`, draft);
  const { runId } = await rest.expect(202, "POST", `${inside}/topics/${topicId}/workflow-runs`, {});
  const { pendingApproval } = await untilReturns(async () => {
    const run = await rest.expect(200, "GET", `/runs/${runId}`);
    if (run.status !== "paused_for_approval") throw new Error(`the run is ${run.status}`);
    return run;
  }, 30_000);
  const { approvalId } = pendingApproval;
  const ids = {
    ...{
      workspaceId,
      articleId,
      commitId,
      templateId,
      reviewId,
      replyId,
      keyId,
      webhookId,
      topicId,
      runId,
      approvalId,
      folderId,
      jobId,
      conversionId,
    },
    username,
  };
  return { rest, ids: { ...ids, ...commonNames } };
}

/** Returns everything that an account can read, by path. */
export async function readSeededAccount({ rest, ids }: SeededAccount): Promise<Record<string, unknown>> {
  const { workspaceId, articleId, reviewId, topicId, runId, folderId, jobId, conversionId } = ids;
  const topics = `/workspaces/${workspaceId}/topics`;
  const paths = [
    ...["/auth/me", "/accounts", "/workspaces", "/api-keys", `/workspaces/${workspaceId}`, `/workspaces/${workspaceId}/collaborators`],
    ...[`/workspaces/${workspaceId}/webhooks`, `/workspaces/${workspaceId}/public-links`, `/articles?workspaceId=${workspaceId}`],
    ...[`/articles?workspaceId=${workspaceId}&deleted=true`, `/articles/${articleId}`, `/articles/${articleId}/commits`],
    ...["content.md", "outline.md", "research.md"].map((file) => `/articles/${articleId}/content?file=${file}`),
    ...[`/articles/${articleId}/reviews`, `/workspaces/${workspaceId}/reviews?mentionsMe=true`, `/reviews/${reviewId}`],
    ...[`/articles/${articleId}/blame`, `/articles/${articleId}/public-link`, `/articles/${articleId}/public-link/history`],
    ...[`/articles/${articleId}/public-link/diff`, `/articles/${articleId}/public-link/findings`],
    ...[`/folders?workspaceId=${workspaceId}`, `/folders/${folderId}`, `/jobs/${jobId}`],
    ...[`/templates?workspaceId=${workspaceId}`, "/conversions", `/conversions/${conversionId}`],
    ...[`${topics}?includeArchived=true`, `/workspaces/${workspaceId}/audit?limit=100`, `/workspaces/${workspaceId}/runs`],
    ...["", "/transitions", "/outline", "/draft", "/audit"].map((rest) => `${topics}/${topicId}${rest}`),
    ...["", "/approvals", "/artifacts", "/artifacts/outline-1", "/events"].map((rest) => `/runs/${runId}${rest}`),
  ];
  const answers = await Promise.all(paths.map(async (path) => [path, (await rest.request("GET", path)).body] as const));
  return Object.fromEntries(answers.map(([path, { requestId: _, ...body }]) => [path, body]));
}
