/**
 * The story of the demo, as steps that check themselves: each step throws if its result is wrong.
 *
 * The story knows a server only by its address, and that it can be killed and started. The caller (the demo, or a test
 * that kills the server at random moments) decides how the story is printed.
 */
import assert from "node:assert/strict";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import type { AppRouter } from "../../api/derive/trpc.ts";
import { typedCharacters } from "./editor.ts";
import type { Narrator } from "./narrator.ts";
import { halves, type Passage, skeleton, title } from "./text.ts";
import { until } from "./until.ts";
import { enterWorkspace, expectStatus, type Stage } from "./visit.ts";

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

export async function playStory(stage: Stage, tell: Narrator, pace: { readonly keyPauseMs: number }): Promise<Ending> {
  tell.chapter("A workspace, an article, a webhook");
  const { anonymous, rest, token, workspaceId, openArticle, delivered } = await enterWorkspace(stage, "Handbook");
  const article = await rest.call<{ articleId: string; revision: number }>("POST", "/articles", { workspaceId, title, content: skeleton });
  expectStatus(article, 201);
  const { articleId } = article.body;
  tell.show("POST /articles", `${articleId}, revision ${article.body.revision}`);

  tell.chapter("Two stock Yjs editors type at once");
  const open = () => openArticle(articleId);
  let [first, second] = await Promise.all([open(), open()]);
  // Each half is read in the other person's editor, so its text is on disk.
  const seenHalves = () => [
    { who: "first", text: typedWords(second.text, halves.first) },
    { who: "second", text: typedWords(first.text, halves.second) },
  ];
  let unwatch = tell.watch(seenHalves);
  const stale = await rest.call<ContentAnswer>("GET", `/articles/${articleId}/content`);
  expectStatus(stale, 200);
  const typing = new AbortController();
  const typists = [
    first.type(halves.first, { ...pace, pauseMs: pace.keyPauseMs, halt: typing.signal }),
    second.type(halves.second, { ...pace, pauseMs: pace.keyPauseMs, halt: typing.signal }),
  ];
  await until(
    () => typedCharacters(second.text.toString(), halves.first) > 120 && typedCharacters(first.text.toString(), halves.second) > 120,
  );
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
  await until(() => typedCharacters(second.text.toString(), halves.first) > 240);
  unwatch();
  const seen = {
    first: typedCharacters(second.text.toString(), halves.first),
    second: typedCharacters(first.text.toString(), halves.second),
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
    const found = typedCharacters(kept, halves[half]);
    tell.show(`the ${half} half`, `${seen[half]} characters were seen by the other editor, ${found} are on disk`);
    assert.ok(found >= seen[half], `lost ${seen[half] - found} seen characters of the ${half} half`);
  }
  assert.ok(kept.includes(retitled), "the merged title was acknowledged and must be there");

  [first, second] = await Promise.all([open(), open()]);
  unwatch = tell.watch(seenHalves);
  await Promise.all([first.type(halves.first, { pauseMs: pace.keyPauseMs }), second.type(halves.second, { pauseMs: pace.keyPauseMs })]);
  const whole = expectedText();
  await until(() => [first, second, reader].every((editor) => editor.text.toString() === whole));
  unwatch();
  tell.say("Both finish their half; three clients hold the same text, to the byte.");

  tell.chapter("A commit, and its signed webhook");
  const commit = await rest.call<{ commitId: string; revision: number; authors: unknown[] }>("POST", `/articles/${articleId}/commits`, {
    message: "Both halves",
  });
  expectStatus(commit, 200, 201);
  await delivered([commit.body.commitId]);
  const delivery = stage.receiver.deliveries().find(({ body }) => body.data.commitId === commit.body.commitId);
  tell.show("article.updated", `${delivery?.deliveryId}, signature verified, attempt ${delivery?.attempt}`);

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
    links: [httpBatchLink({ url: `${stage.url}/trpc`, headers: { authorization: `Bearer ${token}` } })],
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
  const deliveredCommitIds = await delivered(commitIds);
  const end = await rest.call<ContentAnswer>("GET", `/articles/${articleId}/content`);
  return { text: end.body.content, commitIds, deliveredCommitIds, publicPage: (await page()).body };
}

function typedWords(text: { toString(): string }, passage: Passage): string {
  return passage.words.slice(0, typedCharacters(text.toString(), passage));
}

/** Returns the text after both halves are complete. */
function expectedText(): string {
  const { first, second } = halves;
  return skeleton
    .replace(title, retitled)
    .replace(first.mark, first.mark + first.words)
    .replace(second.mark, second.mark + second.words);
}
