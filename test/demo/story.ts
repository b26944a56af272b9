/**
 * The story of the demo, as steps that check themselves: each throws when what it shows does not hold.
 *
 * It knows a server only by its address and as something that can be killed and started; who plays it (the
 * demo, or a test that kills the server at random moments) decides how it is told.
 */
import assert from "node:assert/strict";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import type { AppRouter } from "../../api/derive/trpc.ts";
import { createRestClient, type RestClient } from "./client.ts";
import { type Editor, openEditor, typedCharacters } from "./editor.ts";
import { type Half, halves, skeleton, title } from "./text.ts";
import { until } from "./until.ts";

export interface Stage {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** `kill -9`, then a start on the same data. */
  crash(): Promise<void>;
  /** Where webhooks go, and the verified deliveries that came, by delivery id. */
  readonly receiver: { readonly url: string; setSecret(secret: string): void; deliveries(): readonly Delivery[] };
}

export interface Delivery {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly signatureValid: boolean;
  readonly body: { readonly event: string; readonly data: Record<string, unknown> };
}

export interface Narrator {
  chapter(name: string): void;
  say(line: string): void;
  show(label: string, value: string): void;
  /** Shows lines that change, again and again, until the function it gives is called. */
  watch(look: () => readonly string[]): () => void;
}

export interface Ending {
  readonly text: string;
  readonly commitIds: readonly string[];
  readonly deliveredCommitIds: readonly string[];
  readonly publicPage: string;
}

const retitled = `${title}, and a power cut`;

interface ContentAnswer {
  readonly content: string;
  readonly revision: number;
}

function expectStatus(answer: { readonly status: number; readonly body: unknown }, ...statuses: number[]): void {
  assert.ok(statuses.includes(answer.status), `expected ${statuses.join(" or ")}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

export async function playStory(stage: Stage, tell: Narrator, pace: { readonly keyPauseMs: number }): Promise<Ending> {
  tell.chapter("A workspace, an article, a webhook");
  const anonymous = createRestClient(stage.url);
  const signedIn = await anonymous.call<{ accessToken: string }>("POST", "/auth/token", {
    grantType: "password",
    username: stage.username,
    password: stage.password,
  });
  expectStatus(signedIn, 200);
  const rest = anonymous.as({ authorization: `Bearer ${signedIn.body.accessToken}` });
  const workspace = await rest.call<{ workspaceId: string }>("POST", "/workspaces", { name: "Handbook", type: "team" });
  expectStatus(workspace, 201);
  const { workspaceId } = workspace.body;
  const webhook = await rest.call<{ secret: string }>("POST", `/workspaces/${workspaceId}/webhooks`, {
    url: stage.receiver.url,
    events: ["article.updated"],
  });
  expectStatus(webhook, 201);
  stage.receiver.setSecret(webhook.body.secret);
  const article = await rest.call<{ articleId: string; revision: number }>("POST", "/articles", { workspaceId, title, content: skeleton });
  expectStatus(article, 201);
  const { articleId } = article.body;
  tell.show("POST /articles", `${articleId}, revision ${article.body.revision}`);

  tell.chapter("Two stock Yjs editors type at once");
  const open = async () => openArticle(rest, stage.url, articleId);
  let [first, second] = await Promise.all([open(), open()]);
  // Each half as the other editor sees it: what stands there is on disk.
  const seenHalves = () => [typedHalf(second.text, "first"), typedHalf(first.text, "second")];
  let unwatch = tell.watch(seenHalves);
  const stale = await rest.call<ContentAnswer>("GET", `/articles/${articleId}/content`);
  expectStatus(stale, 200);
  const typing = new AbortController();
  const typists = [
    first.type("first", { ...pace, pauseMs: pace.keyPauseMs, halt: typing.signal }),
    second.type("second", { ...pace, pauseMs: pace.keyPauseMs, halt: typing.signal }),
  ];
  await until(() => typedCharacters(second.text.toString(), "first") > 120 && typedCharacters(first.text.toString(), "second") > 120);
  unwatch();
  tell.say(`Each sees the other's words: ${first.text.length} characters so far.`);

  tell.chapter("A stale write over REST merges into what they type");
  const written = await rest.call<{ merged: boolean; revision: number }>("PATCH", `/articles/${articleId}/content`, {
    mode: "replace",
    baseRevision: stale.body.revision,
    content: stale.body.content.replace(title, retitled),
  });
  expectStatus(written, 200);
  tell.show(`based on revision ${stale.body.revision}`, `merged: ${written.body.merged}, now revision ${written.body.revision}`);
  await until(() => second.text.toString().includes(retitled));

  tell.chapter("kill -9 in the middle of a word");
  unwatch = tell.watch(seenHalves);
  await until(() => typedCharacters(second.text.toString(), "first") > 240);
  unwatch();
  const seen: Record<Half, number> = {
    first: typedCharacters(second.text.toString(), "first"),
    second: typedCharacters(first.text.toString(), "second"),
  };
  typing.abort();
  first.close();
  second.close();
  await Promise.all(typists);
  await stage.crash();
  tell.say("The server is gone and back; both tabs were closed with it, so no memory but the disk's is left.");
  const reader = await open();
  const kept = reader.text.toString();
  for (const half of ["first", "second"] as const) {
    const found = typedCharacters(kept, half);
    tell.show(`the ${half} half`, `${seen[half]} characters were seen by the other editor, ${found} are on disk`);
    assert.ok(found >= seen[half], `lost ${seen[half] - found} seen characters of the ${half} half`);
  }
  assert.ok(kept.includes(retitled), "the merged title was acknowledged and must be there");

  [first, second] = await Promise.all([open(), open()]);
  unwatch = tell.watch(seenHalves);
  await Promise.all([first.type("first", { pauseMs: pace.keyPauseMs }), second.type("second", { pauseMs: pace.keyPauseMs })]);
  const whole = expectedText();
  await until(() => [first, second, reader].every((editor) => editor.text.toString() === whole));
  unwatch();
  tell.say("Both finish their half; three clients hold the same text, to the byte.");

  tell.chapter("A commit, and its signed webhook");
  const commit = await rest.call<{ commitId: string; revision: number; authors: unknown[] }>("POST", `/articles/${articleId}/commits`, {
    message: "Both halves",
  });
  expectStatus(commit, 200, 201);
  const delivered = () => stage.receiver.deliveries().find((delivery) => delivery.body.data.commitId === commit.body.commitId);
  await until(() => delivered() !== undefined);
  assert.ok(
    stage.receiver.deliveries().every((delivery) => delivery.signatureValid),
    "a signature did not verify",
  );
  tell.show("article.updated", `${delivered()?.deliveryId}, signature verified, attempt ${delivered()?.attempt}`);

  tell.chapter("Public, and following");
  const link = await rest.call<{ url: string; slug: string }>("PUT", `/articles/${articleId}/public-link`, {});
  expectStatus(link, 200, 201);
  const page = () => anonymous.call<string>("GET", `/p/${link.body.slug}.md`);
  await until(async () => (await page()).body === whole);
  const postscript = "\nThis line was typed after the page went public.\n";
  first.text.insert(first.text.length, postscript);
  await until(async () => (await page()).body === whole + postscript);
  tell.show(link.body.url, "shows the line a moment after it was typed");
  const frozen = await rest.call("PATCH", `/articles/${articleId}/public-link`, { mode: "snapshot" });
  expectStatus(frozen, 200);
  first.text.insert(first.text.length, "\nAnd this one is for the editors alone.\n");
  await until(() => second.text.toString().endsWith("alone.\n"));
  assert.equal((await page()).body, whole + postscript, "a Snapshot must not follow edits");
  tell.say("Switched to Snapshot on the same address: later edits stay inside.");

  tell.chapter("One contract, many doors");
  const trpc = createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: `${stage.url}/trpc`, headers: { authorization: `Bearer ${signedIn.body.accessToken}` } })],
  });
  const overTrpc = await until(async () => trpc.articles.get.query({ articleId }).catch(() => undefined));
  const overRest = await rest.call<{ title: string }>("GET", `/articles/${articleId}`);
  assert.deepEqual(overTrpc, overRest.body);
  const openapi = await anonymous.call<{ paths: Record<string, unknown> }>("GET", "/openapi.json");
  tell.show("REST = tRPC", `"${overTrpc.title}"; ${Object.keys(openapi.body.paths).length} paths in /openapi.json`);

  tell.chapter("A key that is revoked is dead");
  const key = await rest.call<{ keyId: string; key: string; prefix: string }>("POST", "/api-keys", {
    name: "Read one workspace",
    scopes: ["articles:read"],
    workspaceIds: [workspaceId],
  });
  expectStatus(key, 201);
  const byKey = () => anonymous.as({ "x-api-key": key.body.key }).call<{ code?: string }>("GET", `/articles/${articleId}`);
  expectStatus(await byKey(), 200);
  expectStatus(await rest.call("POST", `/api-keys/${key.body.keyId}/revoke`), 200);
  const refused = await byKey();
  expectStatus(refused, 401);
  tell.show(`${key.body.prefix}…`, `works, is revoked, and its very next request answers 401 ${refused.body.code}`);

  for (const editor of [first, second, reader]) editor.close();
  const commits = await rest.call<{ commits: { commitId: string }[] }>("GET", `/articles/${articleId}/commits?limit=100`);
  const commitIds = commits.body.commits.map((entry) => entry.commitId);
  const deliveredCommitIds = () => [...new Set(stage.receiver.deliveries().map((delivery) => String(delivery.body.data.commitId)))];
  await until(() => commitIds.every((commitId) => deliveredCommitIds().includes(commitId)));
  const end = await rest.call<ContentAnswer>("GET", `/articles/${articleId}/content`);
  return { text: end.body.content, commitIds, deliveredCommitIds: deliveredCommitIds(), publicPage: (await page()).body };
}

function typedHalf(text: { toString(): string }, half: Half): string {
  return halves[half].slice(0, typedCharacters(text.toString(), half));
}

/** The text once both halves are whole. */
function expectedText(): string {
  return skeleton
    .replace(title, retitled)
    .replace("half\n\n## The second", `half\n\n${halves.first}\n\n## The second`)
    .replace(/half\n$/, `half\n\n${halves.second}\n`);
}

async function openArticle(rest: RestClient, url: string, articleId: string): Promise<Editor> {
  const ticket = await rest.call<{ ticket: string }>("POST", "/auth/stream-ticket", { resource: `article:${articleId}` });
  expectStatus(ticket, 201);
  const editor = openEditor({ url, articleId, ticket: ticket.body.ticket });
  await editor.synced();
  return editor;
}
