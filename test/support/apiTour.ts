/**
 * Calls every operation of the OpenAPI document once with success, in an order that makes sense to a person, and
 * provokes the most common refusals. The requests match the document; only the answers are tested.
 */
import * as Y from "yjs";
import type { Send } from "./prismProxy.ts";
import { untilReturns } from "./untilReturns.ts";
import { webHeader } from "./webPage.ts";

const hangMs = 30_000;
const yjsUpdate = "application/octet-stream";

/** Returns an update of a Y.Doc whose bytes are all ASCII, because Prism passes bytes on as text. */
function toAsciiUpdate(): Uint8Array {
  const document = new Y.Doc();
  document.clientID = 7;
  document.getText("research.md").insert(0, "Notes");
  return Y.encodeStateAsUpdate(document);
}

export interface Tourist {
  readonly send: Send;
  readonly operator: { readonly username: string; readonly password: string };
  /** Origin of the service's own pages. */
  readonly origin: string;
  /** Value of the session cookie that an answer has set. */
  cookie(): string | undefined;
  /** Sets the access token or key for all later requests. */
  carry(headers: Readonly<Record<string, string>>): void;
}

/** Ids that later parts of the tour need from earlier ones. */
interface Places {
  readonly workspaceId: string;
  readonly articleId: string;
}

export async function tourEverything(tourist: Tourist): Promise<void> {
  await tourAccounts(tourist);
  const places = await tourWorkspace(tourist);
  await tourKeys(tourist);
  await tourFolders(tourist, places);
  await tourArticle(tourist, places);
  await tourReviews(tourist, places);
  await tourTemplates(tourist, places);
  await tourPublicLink(tourist, places);
  await tourConversions(tourist, places);
  await tourWebhooks(tourist, places);
  await tourTopics(tourist, places);
  await tourRuns(tourist, places);
  await tourStreams(tourist, places);
}

async function tourAccounts({ send, operator, origin, cookie, carry }: Tourist): Promise<void> {
  const password = "another long password";
  const signIn = (account: { username: string; password: string }) =>
    send(200, "auth.token", { body: { grantType: "password", ...account } });
  await send(401, "auth.token", { body: { grantType: "password", username: operator.username, password: "wrong" } });
  const session = await signIn(operator);
  carry({ authorization: `Bearer ${session.accessToken}` });
  const bea = { username: "bea", displayName: "Bea Lind", email: "bea@example.com" };
  const { setupUrl } = await send(201, "accounts.create", { body: bea });
  await send(409, "accounts.create", { body: bea });
  await send(200, "accounts.list", { query: { limit: "1" } });
  const token = new URLSearchParams(new URL(setupUrl).hash.slice(1)).get("token") ?? "";
  await send(201, "auth.setup", { body: { token, password } });
  await send(410, "auth.setup", { body: { token, password } });
  await send(200, "accounts.update", { params: { username: "bea" }, body: { displayName: "Bea" } });
  await send(200, "accounts.get", { params: { username: "bea" } });
  await send(404, "accounts.get", { params: { username: "nobody" } });
  await send(404, "accounts.update", { params: { username: "nobody" }, body: { displayName: "Nobody" } });
  const second = await signIn({ username: "bea", password });
  const refreshed = await send(200, "auth.token", { body: { grantType: "refresh_token", refreshToken: second.refreshToken } });
  const asBea = { authorization: `Bearer ${refreshed.accessToken}` };
  await send(403, "accounts.list", { as: asBea });
  await send(200, "auth.updateMe", { as: asBea, body: { displayName: "Bea L." } });
  await send(204, "auth.logout", { as: asBea });
  await send(401, "auth.me", { as: asBea });
  const page = { origin, ...webHeader };
  await send(401, "auth.openWebSession", { as: page, body: { username: "bea", password: "wrong" } });
  await send(200, "auth.openWebSession", { as: page, body: { username: "bea", password } });
  const withCookie = { ...page, cookie: `svc_session=${cookie()}` };
  await send(200, "auth.renewWebSession", { as: withCookie });
  await send(403, "auth.renewWebSession", { as: { ...withCookie, origin: "https://evil.example" } });
  await send(204, "auth.endWebSession", { as: withCookie });
  await send(401, "auth.renewWebSession", { as: withCookie });
  await send(200, "auth.me");
}

async function tourWorkspace({ send }: Tourist): Promise<Places> {
  const { workspaceId } = await send(201, "workspaces.create", { body: { name: "Newsroom", type: "team", settings: { tone: "plain" } } });
  const params = { workspaceId };
  await send(200, "workspaces.list");
  await send(200, "workspaces.get", { params });
  await send(200, "workspaces.update", { params, body: { name: "The newsroom", settings: { tone: null } } });
  await send(404, "workspaces.get", { params: { workspaceId: workspaceId.replace(/.$/, (last: string) => (last === "0" ? "1" : "0")) } });
  await send(201, "members.add", { params, body: { username: "bea", role: "member" } });
  await send(409, "members.add", { params, body: { username: "bea", role: "member" } });
  await send(200, "members.list", { params });
  const member = { ...params, username: "bea" };
  await send(200, "members.get", { params: member });
  await send(200, "members.update", { params: member, body: { role: "admin" } });
  await send(204, "members.remove", { params: member });
  const { articleId } = await send(201, "articles.create", {
    body: { workspaceId, title: "How a draft survives", content: "# How a draft survives\n" },
  });
  await send(200, "workspaces.search", { params, query: { q: "draft", limit: "5" } });
  await send(422, "workspaces.search", { params, query: { q: "draft", limit: "0" } });
  return { workspaceId, articleId };
}

async function tourKeys({ send }: Tourist): Promise<void> {
  const { keyId, key } = await send(201, "keys.create", {
    body: { name: "Build server", scopes: ["articles:read"], expiresAt: "2099-01-01T00:00:00.000Z" },
    headers: { "idempotency-key": "the tour's key" },
  });
  const params = { keyId };
  await send(200, "keys.list", { query: { state: "active" } });
  await send(200, "keys.get", { params });
  const asKey = { "x-api-key": key };
  await send(200, "keys.self", { as: asKey });
  await send(403, "keys.list", { as: asKey });
  await send(200, "keys.update", { params, body: { description: "Reads the articles." } });
  await send(412, "keys.update", { params, body: { name: "Late" }, headers: { "if-match": '"r0"' } });
  await send(409, "keys.delete", { params });
  await send(200, "keys.revoke", { params });
  await send(401, "keys.self", { as: asKey });
  await send(204, "keys.delete", { params });
}

async function tourFolders({ send }: Tourist, { workspaceId }: Places): Promise<void> {
  const { folderId } = await send(201, "folders.create", { body: { workspaceId, name: "Guides", contentProject: {} } });
  const params = { folderId };
  await send(409, "folders.create", { body: { workspaceId, name: "guides" } });
  const inside = await send(201, "folders.create", { body: { workspaceId, name: "Drafts", parentFolderId: folderId } });
  await send(200, "folders.list", { query: { workspaceId, parentFolderId: "null", archived: "false" } });
  await send(200, "folders.get", { params });
  await send(200, "folders.update", { params, body: { name: "Handbooks", contentProject: { wordCountRange: { min: 900, max: 1400 } } } });
  await send(409, "folders.update", { params, body: { parentFolderId: inside.folderId } });
  await send(409, "folders.delete", { params });
  const { jobId } = await send(202, "folders.archive", { params, body: { note: "The campaign is over." } });
  await send(409, "folders.archive", { params });
  await send(202, "folders.restore", { params, body: {} });
  await send(200, "jobs.get", { params: { jobId } });
  await send(204, "folders.delete", { params: { folderId: inside.folderId } });
  await send(202, "folders.delete", { params, query: { recursive: "true" } });
  await send(404, "folders.get", { params });
}

async function tourArticle({ send }: Tourist, { workspaceId, articleId }: Places): Promise<void> {
  const params = { articleId };
  await send(200, "articles.list", { query: { workspaceId, limit: "10" } });
  await send(200, "articles.get", { params });
  await send(200, "articles.update", { params, body: { title: "How a draft survives anything" } });
  const { revision } = await send(200, "content.get", { params });
  await send(200, "content.get", { params, query: { format: "json" } });
  for (const accept of ["text/markdown", "text/html", "text/plain"]) await send(200, "content.get", { params, headers: { accept } });
  await send(200, "content.get", { params, headers: { accept: yjsUpdate } });
  const edits = [{ find: "draft", replace: "text", occurrence: "first" }];
  await send(200, "content.edit", { params, body: { mode: "patch", baseRevision: revision, edits, message: "A better word" } });
  await send(200, "content.edit", { params, body: toAsciiUpdate(), headers: { "content-type": yjsUpdate } });
  await send(422, "content.edit", { params, body: { mode: "patch", edits: [{ find: "no such words", replace: "" }] } });
  await send(428, "content.edit", { params, body: { mode: "replace", content: "# Lost\n" } });
  await send(409, "content.replace", { params, body: { baseRevision: revision, onConflict: "fail", content: "# Late\n" } });
  await send(200, "content.replace", { params, body: { baseRevision: revision, content: "# How a draft survives\n\nIt is flushed.\n" } });
  await send(201, "commits.create", { params, body: { message: "As it is flushed", name: "First" } });
  await send(200, "commits.create", { params, body: {} });
  const { commits } = await send(200, "commits.list", { params });
  const first = { ...params, commitId: commits[0].commitId };
  await send(200, "commits.get", { params: first });
  await send(200, "commits.content", { params: first });
  await send(200, "commits.content", { params: first, headers: { accept: "text/markdown" } });
  await send(200, "commits.blame", { params });
  await send(410, "commits.blame", { params, query: { revision: "1" } });
  for (const format of ["unified", "words", "json"]) await send(200, "commits.diff", { params, query: { from: "1", to: "live", format } });
  await send(201, "commits.restore", { params, body: { revision: 1, file: "content.md" } });
  await send(200, "commits.restore", { params, body: { revision: 1, section: "How a draft survives" } });
  await send(422, "commits.restore", { params, body: { revision: 1, section: "No such heading" } });
  await send(200, "articles.presence", { params });
  await send(204, "articles.delete", { params });
  await send(200, "articles.list", { query: { workspaceId, deleted: "true" } });
  await send(200, "articles.events", { params, query: { from: "start" } });
  await send(200, "articles.undelete", { params });
  await send(409, "articles.undelete", { params });
  await send(201, "articles.duplicate", { params, body: { title: "How another draft survives" } });
  await send(200, "articles.list", { query: { workspaceId, sort: "title", author: "admin", published: "none", folderId: "null" } });
}

async function tourTemplates({ send }: Tourist, { workspaceId }: Places): Promise<void> {
  const variables = [{ name: "product", label: "Name of the product", required: true }, { name: "version" }];
  const body = { workspaceId, name: "Release notes", content: "# {{product}} {{version}}\n", variables };
  const { templateId } = await send(201, "templates.create", { body });
  await send(409, "templates.create", { body });
  const params = { templateId };
  await send(200, "templates.list", { query: { workspaceId, q: "release", sort: "name" } });
  await send(200, "templates.get", { params });
  await send(200, "templates.update", { params, body: { articleType: "reference", description: "For each release." } });
  await send(201, "templates.instantiate", { params, body: { title: "Kites 2.0", variables: { product: "Kites" } } });
  await send(422, "templates.instantiate", { params, body: { title: "Kites 2.0", variables: { version: "2.0" } } });
  await send(201, "articles.create", { body: { workspaceId, title: "Kites 2.1", templateId, variables: { product: "Kites" } } });
  await send(204, "templates.delete", { params });
}

async function tourReviews({ send }: Tourist, { workspaceId, articleId }: Places): Promise<void> {
  const params = { articleId };
  await send(200, "content.edit", { params, body: { mode: "append", content: "\nIt is stored, and it is sent.\n" } });
  const comment = { body: "@bea is this right?", anchor: { quote: "it is", prefix: "and " } };
  const { reviewId } = await send(201, "reviews.create", { params, body: comment });
  const change = { body: "Shorter.", kind: "suggestion", anchor: { quote: "It is stored" }, replacement: "Stored" };
  const suggestion = await send(201, "reviews.create", { params, body: change });
  const other = await send(201, "reviews.create", { params, body: { ...change, replacement: "Is it stored" } });
  await send(422, "reviews.create", { params, body: { body: "Which?", anchor: { quote: "is" } } });
  await send(422, "reviews.create", { params, body: { body: "Where?", anchor: { quote: "no such words" } } });
  await send(200, "reviews.list", { params, query: { status: "open", file: "content.md", mentions: "bea" } });
  await send(200, "reviews.listInWorkspace", { params: { workspaceId }, query: { mentionsMe: "true" } });
  const review = { reviewId };
  await send(200, "reviews.get", { params: review });
  const { replyId } = await send(201, "reviews.reply", { params: review, body: { body: "Yes." } });
  await send(200, "reviews.updateReply", { params: { reviewId, replyId }, body: { body: "Yes, it is." } });
  await send(204, "reviews.deleteReply", { params: { reviewId, replyId } });
  await send(200, "reviews.update", { params: review, body: { status: "resolved" } });
  await send(409, "reviews.accept", { params: review });
  await send(200, "reviews.accept", { params: { reviewId: suggestion.reviewId } });
  await send(409, "reviews.accept", { params: { reviewId: other.reviewId } });
  await send(200, "reviews.reject", { params: { reviewId: other.reviewId } });
  await send(204, "reviews.delete", { params: review });
  await send(404, "reviews.get", { params: review });
}

async function tourPublicLink({ send }: Tourist, { workspaceId, articleId }: Places): Promise<void> {
  const params = { articleId };
  await send(404, "publicLinks.get", { params });
  await send(404, "publicLinks.history", { params });
  await send(404, "publicLinks.diff", { params });
  await send(200, "publicLinks.findings", { params });
  await send(201, "publicLinks.put", { params, body: { mode: "live" } });
  await send(202, "publicLinks.sync", { params });
  await send(409, "publicLinks.refreshSnapshot", { params, body: {} });
  await send(200, "publicLinks.update", { params, body: { mode: "snapshot" } });
  await send(200, "publicLinks.refreshSnapshot", { params, body: {} });
  await send(200, "publicLinks.get", { params });
  await send(200, "publicLinks.update", { params, body: { gate: "warn", expiresAt: 4_102_444_800 } });
  await send(200, "publicLinks.diff", { params, query: { format: "words" } });
  await send(200, "publicLinks.history", { params, query: { limit: "10" } });
  await send(200, "publicLinks.list", { params: { workspaceId }, query: { mode: "snapshot" } });
  await send(204, "publicLinks.delete", { params });
}

async function tourConversions({ send }: Tourist, { workspaceId, articleId }: Places): Promise<void> {
  const wait = { prefer: "wait=30" };
  await send(200, "conversions.formats");
  const content = { source: { content: "# How a draft survives\n", format: "markdown" }, to: "txt" };
  const { conversionId } = await send(201, "conversions.create", { body: content, headers: wait });
  const target = { workspaceId, title: "Imported" };
  await send(201, "conversions.create", { body: { source: { articleId }, to: "markdown", target }, headers: wait });
  await send(422, "conversions.create", { body: { ...content, target } });
  await send(200, "conversions.list", { query: { limit: "1" } });
  const params = { conversionId };
  await send(200, "conversions.get", { params });
  await send(200, "conversions.output", { params, headers: { accept: "application/vnd.svc.conversion-output+json" } });
  await send(204, "conversions.delete", { params });
  await send(404, "conversions.get", { params });
}

async function tourWebhooks({ send }: Tourist, { workspaceId }: Places): Promise<void> {
  const params = { workspaceId };
  const body = { url: "https://10.0.0.1/in", events: ["article.updated"] };
  const { webhookId } = await send(201, "webhooks.create", { params, body });
  await send(422, "webhooks.create", { params, body: { url: "https://192.168.0.1/in" } });
  await send(200, "webhooks.list", { params });
  const webhook = { ...params, webhookId };
  await send(200, "webhooks.get", { params: webhook });
  await send(200, "webhooks.update", { params: webhook, body: { rotateSecret: true, active: false } });
  await send(204, "webhooks.delete", { params: webhook });
}

/** Creates a topic whose article has a committed outline and draft, written by hand. */
async function writeTopic({ send }: Tourist, workspaceId: string): Promise<Record<string, string>> {
  const body = { title: "Kites in high wind", targetAudience: "builders", wordCountRange: { min: 900, max: 1400 } };
  const { topicId } = await send(201, "topics.create", { params: { workspaceId }, body });
  const params = { workspaceId, topicId };
  const { articleId } = await send(201, "topics.ensureArticle", { params, body: {} });
  for (const file of ["outline.md", "content.md"]) {
    await send(200, "content.edit", {
      params: { articleId },
      body: { mode: "append", file, content: `# ${file}\n`, message: `The ${file}` },
    });
  }
  return params;
}

async function tourTopics(tourist: Tourist, { workspaceId }: Places): Promise<void> {
  const { send } = tourist;
  const body = { title: "Kites without wind", targetAudience: "builders" };
  const idea = { workspaceId, topicId: (await send(201, "topics.create", { params: { workspaceId }, body })).shortId };
  await send(200, "topics.list", { params: { workspaceId }, query: { status: "idea" } });
  await send(200, "topics.get", { params: idea });
  await send(200, "topics.update", { params: idea, body: { priorityScore: 80, scheduledDate: "2026-12-01", wordCountRange: null } });
  await send(200, "topics.transitions", { params: idea });
  await send(200, "topics.shortlist", { params: idea, body: {} });
  await send(404, "topics.getOutline", { params: idea });
  await send(200, "topics.archive", { params: idea, body: { note: "Covered by another article." } });
  await send(409, "topics.update", { params: idea, body: { priorityScore: 1 } });
  await send(200, "topics.restore", { params: idea });
  const params = await writeTopic(tourist, workspaceId);
  await send(200, "topics.getOutline", { params });
  await send(200, "topics.getDraft", { params });
  await send(200, "topics.approveOutline", { params, body: { note: "Good." } });
  await send(409, "topics.approveOutline", { params, body: {} });
  await send(200, "topics.approveDraft", { params, body: {} });
  for (const operationId of ["topics.requestOutlineChanges", "topics.requestDraftChanges"]) {
    const { runId } = await send(202, operationId, { params, body: { feedback: "Shorter." } });
    await send(202, "runs.cancel", { params: { runId }, body: { reason: "Only a tour." } });
  }
  const { runId } = await send(202, "topics.runDraftAction", { params, body: { action: "update" } });
  await send(409, "topics.runDraftAction", { params, body: { action: "update" } });
  await send(202, "runs.cancel", { params: { runId }, body: {} });
  await send(200, "topics.audit", { params });
  await send(200, "topics.workspaceAudit", { params: { workspaceId }, query: { eventType: "topic_created" } });
}

/** Resolves with the run once it waits for its decision. */
function untilPaused(send: Send, runId: string): Promise<{ pendingApproval: { approvalId: string } }> {
  return untilReturns(async () => {
    const run = await send(200, "runs.get", { params: { runId } });
    if (run.status !== "paused_for_approval") throw new Error(`the run is ${run.status}`);
    return run;
  }, hangMs);
}

async function tourRuns(tourist: Tourist, { workspaceId }: Places): Promise<void> {
  const { send } = tourist;
  await send(200, "workflows.list", { query: { workspaceId } });
  await send(200, "workflows.get", { params: { workflowId: "outline" }, query: { workspaceId } });
  const topic = await writeTopic(tourist, workspaceId);
  const { runId: outlineRunId } = await send(202, "topics.generateOutline", { params: topic, body: {} });
  await send(202, "runs.cancel", { params: { runId: outlineRunId }, body: {} });
  const started = await send(202, "workflows.run", { params: { workflowId: "outline" }, body: { workspaceId, topicId: topic.topicId } });
  await send(202, "runs.cancel", { params: { runId: started.runId }, body: {} });
  const { runId } = await send(202, "topics.startWorkflow", { params: topic, body: { pipeline: "staged" } });
  const params = { runId };
  await untilPaused(send, runId);
  await send(202, "runs.cancel", { params, body: {} });
  await send(409, "runs.cancel", { params, body: {} });
  await send(202, "runs.retry", { params, body: {} });
  const { approvalId } = (await untilPaused(send, runId)).pendingApproval;
  await send(200, "runs.approvals", { params });
  await send(200, "runs.list", { params: { workspaceId }, query: { status: "paused_for_approval" } });
  const { artifacts } = await send(200, "runs.artifacts", { params });
  for (const accept of ["text/markdown", "application/octet-stream", "application/vnd.svc.artifact+json"]) {
    await send(200, "runs.artifact", { params: { ...params, artifactKey: artifacts.at(-1).artifactKey }, headers: { accept } });
  }
  await send(200, "runs.resolveApproval", { params: { ...params, approvalId }, body: { decision: "reject", note: "Only a tour." } });
  await send(409, "runs.resolveApproval", { params: { ...params, approvalId }, body: { decision: "approve" } });
  await send(200, "runs.events", { params, query: { afterSeq: "2" } });
  await send(200, "runs.timeline", { params });
}

/** Prism forwards a stream only after its end. The stream of a workspace ends together with the key that opened it. */
async function tourStreams({ send }: Tourist, { workspaceId, articleId }: Places): Promise<void> {
  await send(201, "auth.streamTicket", { body: { resource: `article:${articleId}` } });
  const { keyId, key } = await send(201, "keys.create", { body: { name: "Reader", scopes: ["workspaces:read"] } });
  const asKey = { "x-api-key": key };
  const read = send(200, "workspaces.timeline", { params: { workspaceId }, query: { from: "start" }, as: asKey });
  await untilReturns(async () => {
    const { lastUsedAt } = await send(200, "keys.get", { params: { keyId } });
    if (lastUsedAt === undefined) throw new Error("the stream has not been opened");
  }, hangMs);
  await send(200, "keys.revoke", { params: { keyId } });
  const text: string = await read;
  if (!/^event: agent\.run_started$/m.test(text)) throw new Error(`the stream told of no run: ${text.slice(0, 500)}`);
}
