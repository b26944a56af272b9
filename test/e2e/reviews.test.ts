/** Tests reviews over HTTP on the real server: threads, roles, mentions, lists, webhooks, and suggestions beside an editor. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, createTrpc, openEditor, type Rest } from "../support/clients.ts";
import { createDesk } from "../support/desk.ts";
import { type ReceivedRequest, type Receiver, startReceiver } from "../support/receiver.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const text = "# Kites\n\nA kite needs teh wind.\n\nIt flies.\n";

let server: RunningServer;
let receiver: Receiver;
let admin: Rest;
let ana: Rest;
let bo: Rest;
let outsider: Rest;
let workspaceId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startServer({ OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8", NODE_EXTRA_CA_CERTS: receiver.authority.file });
  ({ admin, ana, bo, outsider, workspaceId } = await createDesk(server));
  await admin.expect(201, "POST", `/workspaces/${workspaceId}/webhooks`, {
    url: receiver.url,
    events: ["review.mentioned", "review.replied"],
  });
});
afterAll(async () => {
  await server.remove();
  await receiver.close();
});

async function newArticle(title = "Kites"): Promise<string> {
  return (await ana.expect(201, "POST", "/articles", { workspaceId, title, content: text })).articleId;
}

const comment = (by: Rest, articleId: string, body: object) => by.expect(201, "POST", `/articles/${articleId}/reviews`, body);
const bodyOf = (request: ReceivedRequest) => JSON.parse(request.body.toString());
/** The events of one review that have arrived. */
const arrived = (reviewId: string) => receiver.received.map(bodyOf).filter(({ data }) => data.reviewId === reviewId);

test("[RV8][RV18][OP77] members with the right write, answer, edit, resolve and reopen a thread", async () => {
  const articleId = await newArticle();
  const made = await ana.request("POST", `/articles/${articleId}/reviews`, { body: "Typo?", anchor: { quote: "teh" } });
  expect(made.status).toBe(201);
  const { reviewId } = made.body;
  const path = `/reviews/${reviewId}`;
  expect(made.headers.get("location")).toBe(path);
  expect(made.body).toMatchObject({
    kind: "comment",
    status: "open",
    file: "content.md",
    author: { username: "ana", kind: "user" },
    replies: [],
  });
  const { key } = await bo.expect(201, "POST", "/api-keys", { name: "robot", scopes: ["reviews:write"] });
  const reply = await createRest(server.url, { "x-api-key": key }).expect(201, "POST", `${path}/replies`, { body: "Yes." });
  expect(reply).toMatchObject({ reviewId, body: "Yes.", author: { username: "bo", kind: "key" }, mentions: [], unresolvedMentions: [] });
  const replyPath = `${path}/replies/${reply.replyId}`;
  for (const body of ["No.", "n".repeat(20_000)])
    expect((await ana.request("PATCH", replyPath, { body })).body).toMatchObject({ status: 403, code: "insufficient_permission" });
  expect(await bo.expect(200, "PATCH", replyPath, { body: "Yes, a typo." })).toMatchObject({
    body: "Yes, a typo.",
    replyId: reply.replyId,
  });
  expect((await bo.request("PATCH", path, { body: "Mine." })).body).toMatchObject({ status: 403, code: "insufficient_permission" });
  expect(await admin.expect(200, "PATCH", path, { body: "A typo?" })).toMatchObject({ body: "A typo?", author: { username: "ana" } });
  expect(await bo.expect(200, "PATCH", path, { status: "resolved" })).toMatchObject({ status: "resolved", resolvedBy: "bo" });
  expect((await bo.request("POST", `${path}/accept`)).body).toMatchObject({
    status: 409,
    code: "invalid_transition",
    currentState: "resolved",
    detail: expect.stringMatching(
      /^Cannot accept a suggestion: this comment is in the state resolved\. Possible operations: reviews\.update, /,
    ),
  });
  const opened = await ana.request("PATCH", path, { status: "open" });
  expect(opened.body).not.toHaveProperty("resolvedBy");
  expect((await bo.request("DELETE", path)).body).toMatchObject({ status: 403, code: "insufficient_permission" });
  expect((await bo.request("DELETE", `${path}/replies/${reviewId.replace("rev", "rpl")}`)).status).toBe(404);
  expect((await bo.request("DELETE", replyPath)).status).toBe(204);
  expect((await ana.expect(200, "GET", path)).replies).toEqual([]);
  expect((await ana.request("DELETE", path)).status).toBe(204);
  for (const rest of [ana, outsider]) expect((await rest.request("GET", path)).status).toBe(404);
});

test("[RV19] typing changes the entity tag of a review but fails no If-Match; a change of the review does", async () => {
  const articleId = await newArticle();
  const { reviewId } = await comment(ana, articleId, { body: "Typo?", anchor: { quote: "teh" } });
  const path = `/reviews/${reviewId}`;
  const etag = async () => (await ana.request("GET", path)).headers.get("etag") ?? "";
  const before = await etag();
  expect(before).toBe('"r1-1"');
  expect((await ana.request("GET", path, undefined, { "if-none-match": before })).status).toBe(304);
  await bo.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "prepend", content: "Note. ", message: "Note" });
  expect(await etag()).toBe('"r2-1"');
  expect((await ana.request("GET", path, undefined, { "if-none-match": before })).body.anchor).toMatchObject({ start: 28, revision: 2 });
  await ana.expect(200, "PATCH", path, { body: "A typo?" }, { "if-match": before });
  expect((await ana.request("PATCH", path, { status: "resolved" }, { "if-match": before })).status).toBe(412);
  expect((await ana.request("DELETE", path, undefined, { "if-match": before })).status).toBe(412);
  // A missing right comes first.
  expect((await bo.request("PATCH", path, { body: "Mine." }, { "if-match": before })).status).toBe(403);
  expect((await bo.request("DELETE", path, undefined, { "if-match": before })).status).toBe(403);
});

test("[RV26] replies take the entity tag of their review in If-Match, after the rights of the caller", async () => {
  const { reviewId } = await comment(ana, await newArticle(), { body: "Typo?" });
  const path = `/reviews/${reviewId}`;
  const made = await bo.request("POST", `${path}/replies`, { body: "Yes." });
  const replyPath = `${path}/replies/${made.body.replyId}`;
  const first = { "if-match": made.headers.get("etag") ?? "" };
  expect(first["if-match"]).toBe('"r2"');
  expect((await ana.request("PATCH", replyPath, { body: "No." }, { "if-match": '"r1"' })).status).toBe(403);
  const edited = await bo.request("PATCH", replyPath, { body: "Yes, one." }, first);
  expect([edited.status, edited.headers.get("etag")]).toEqual([200, '"r3"']);
  for (const method of ["PATCH", "DELETE"]) {
    const body = method === "PATCH" ? { body: "Two." } : undefined;
    expect((await bo.request(method, replyPath, body, first)).body).toMatchObject({ status: 412, code: "precondition_failed" });
  }
  const tag = (await ana.request("GET", path)).headers.get("etag") ?? "";
  expect((await bo.request("DELETE", replyPath, undefined, { "if-match": tag })).status).toBe(204);
});

test("[RV9][RV20][RV21] mentions are sorted by access, listed for the mentioned, and sent once a text", async () => {
  const articleId = await newArticle();
  const first = await comment(ana, articleId, { body: "@Bo and @cy.out, not @nobody-here or `@admin`?", anchor: { quote: "teh wind" } });
  expect(first).toMatchObject({ mentions: ["bo"], unresolvedMentions: ["cy.out"] });
  const plain = await comment(ana, articleId, { body: "Nothing to see, ana@example.com." });
  expect(plain).toMatchObject({ mentions: [], unresolvedMentions: [] });
  const reply = await bo.expect(201, "POST", `/reviews/${first.reviewId}/replies`, { body: "Ask @ana." });
  await ana.expect(200, "PATCH", `/reviews/${plain.reviewId}`, { body: "See @bo." });
  const answered = await ana.expect(201, "POST", `/reviews/${plain.reviewId}/replies`, { body: "Done." });

  await receiver.waitFor((request) => bodyOf(request).data.replyId === answered.replyId);
  await receiver.waitFor((request) => bodyOf(request).event === "review.mentioned" && bodyOf(request).data.replyId === reply.replyId);
  await receiver.waitFor((request) => bodyOf(request).event === "review.replied" && bodyOf(request).data.replyId === reply.replyId);
  await receiver.waitFor((request) => bodyOf(request).data.reviewId === first.reviewId && bodyOf(request).data.replyId === undefined);
  const base = { articleId, reviewId: first.reviewId, url: `${server.url}/reviews/${first.reviewId}` };
  const asUser = (username: string) => ({ username, kind: "user" });
  const sent = arrived(first.reviewId).map(({ event, data }) => ({ event, ...data }));
  expect(sent).toHaveLength(3);
  expect(sent).toEqual(
    expect.arrayContaining([
      {
        event: "review.mentioned",
        ...base,
        author: asUser("ana"),
        mentions: ["bo"],
        unresolvedMentions: ["cy.out"],
        body: first.body,
        quote: "teh wind",
      },
      { event: "review.replied", ...base, replyId: reply.replyId, author: asUser("bo"), participants: ["ana", "bo"], body: "Ask @ana." },
      {
        event: "review.mentioned",
        ...base,
        replyId: reply.replyId,
        author: asUser("bo"),
        mentions: ["ana"],
        unresolvedMentions: [],
        body: "Ask @ana.",
        quote: "teh wind",
      },
    ]),
  );
  // The edit that added a mention sent nothing, and the comment without a mention neither.
  expect(arrived(plain.reviewId).map(({ event }) => event)).toEqual(["review.replied"]);

  const mine = async (rest: Rest, query = "") => {
    const { reviews } = await rest.expect(200, "GET", `/workspaces/${workspaceId}/reviews?mentionsMe=true${query}`);
    return reviews.map(({ reviewId }: { reviewId: string }) => reviewId);
  };
  expect(await mine(bo)).toEqual([plain.reviewId, first.reviewId]);
  expect(await mine(ana)).toEqual([first.reviewId]);
  expect(await mine(admin)).toEqual([]);
  await ana.expect(200, "PATCH", `/reviews/${plain.reviewId}`, { status: "resolved" });
  expect(await mine(bo, "&status=open")).toEqual([first.reviewId]);
  expect(await mine(bo, "&status=open&status=resolved")).toEqual([plain.reviewId, first.reviewId]);
  expect((await outsider.request("GET", `/workspaces/${workspaceId}/reviews`)).status).toBe(404);
  await admin.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username: "cy.out", role: "member" });
  expect(await mine(outsider)).toEqual([first.reviewId]);
  await admin.expect(204, "DELETE", `/workspaces/${workspaceId}/members/cy.out`);
});

test("[RV22][AR41] lists show the reviews of an article or workspace by filters and pages, without trash", async () => {
  const articleId = await newArticle("Lists");
  const made: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const where = at % 2 === 0 ? { anchor: { quote: "teh" } } : { file: "outline.md" };
    made.unshift((await comment(at === 0 ? bo : ana, articleId, { body: at === 3 ? "@bo" : "A remark.", ...where })).reviewId);
  }
  await ana.expect(200, "PATCH", `/reviews/${made[0]}`, { status: "resolved" });
  const list = async (query: string) => {
    const { reviews } = await ana.expect(200, "GET", `/articles/${articleId}/reviews${query}`);
    return reviews.map(({ reviewId }: { reviewId: string }) => made.indexOf(reviewId));
  };
  expect(await list("")).toEqual([0, 1, 2, 3, 4]);
  expect(await list("?status=open")).toEqual([1, 2, 3, 4]);
  expect(await list("?file=outline.md")).toEqual([1, 3]);
  expect(await list("?mentions=bo")).toEqual([1]);
  const trpc = createTrpc(ana);
  const page = await trpc.reviews.list.query({ articleId, limit: 2 });
  expect(page.reviews.map(({ reviewId }) => reviewId)).toEqual(made.slice(0, 2));
  const next = await trpc.reviews.list.query({ articleId, limit: 3, nextToken: page.nextToken });
  expect(next.reviews.map(({ reviewId }) => reviewId)).toEqual(made.slice(2));
  const inWorkspace = async () => {
    const { reviews } = await ana.expect(200, "GET", `/workspaces/${workspaceId}/reviews?limit=100`);
    return made.filter((reviewId) => reviews.some((review: { reviewId: string }) => review.reviewId === reviewId));
  };
  expect(await inWorkspace()).toEqual(made);
  await ana.expect(204, "DELETE", `/articles/${articleId}`);
  expect(await inWorkspace()).toEqual([]);
  expect((await ana.request("GET", `/reviews/${made[0]}`)).status).toBe(404);
  expect((await ana.request("POST", `/reviews/${made[0]}/replies`, { body: "Still there?" })).body).toMatchObject({
    code: "invalid_transition",
    detail: expect.stringContaining(`POST /articles/${articleId}/undelete`),
  });
  await ana.expect(200, "POST", `/articles/${articleId}/undelete`);
  expect(await list("")).toEqual([0, 1, 2, 3, 4]);
});

test("[RV11][RV15] an accepted suggestion appears in an open editor, once for its Idempotency-Key", async () => {
  const articleId = await newArticle("Suggestion");
  const editor = await openEditor(bo, articleId);
  const suggestion = { body: "Typo.", kind: "suggestion", anchor: { quote: "teh wind" }, replacement: "the wind" };
  const { reviewId } = await comment(ana, articleId, suggestion);
  editor.text.insert(0, "Typed. ");
  const headers = { "idempotency-key": "accept once" };
  const first = await bo.request("POST", `/reviews/${reviewId}/accept`, undefined, headers);
  expect(first.body).toMatchObject({ status: "accepted", resolvedBy: "bo" });
  const again = await bo.request("POST", `/reviews/${reviewId}/accept`, undefined, headers);
  expect([again.status, again.headers.get("idempotency-replayed"), again.body]).toEqual([200, "true", first.body]);
  const seen = await editor.until((live) => live.includes("the wind") && live.includes("Typed. "));
  expect(seen).toBe(`Typed. ${text.replace("teh", "the")}`);
  const { commits } = await ana.expect(200, "GET", `/articles/${articleId}/commits`);
  expect(commits.map(({ message, kind }: { message: string; kind: string }) => [message, kind])).toEqual([
    ["Accept suggestion of ana", "commit"],
  ]);
  expect((await bo.request("POST", `/reviews/${reviewId}/accept`)).body).toMatchObject({ status: 409, code: "invalid_transition" });
  editor.close();
});

test("[RV6] the reviews of a text of 1 MB are listed with their places after it was written again", async () => {
  const sentence = (at: number) => `Sentence ${at} says that number ${at * 7919} is written to disk before it is sent. \n`;
  const long = Array.from({ length: 13_000 }, (_, at) => sentence(at)).join("");
  const { articleId } = await ana.expect(201, "POST", "/articles", { workspaceId, title: "Long", content: long });
  const path = `/articles/${articleId}/reviews`;
  for (let at = 1; at <= 40; at += 1) {
    const start = long.indexOf(`number ${at * 300 * 7919} is`);
    await ana.expect(201, "POST", path, { body: "Really?", anchor: { start, end: start + 20, revision: 1 } });
  }
  const editor = await openEditor(bo, articleId);
  editor.document.transact(() => {
    editor.text.delete(0, editor.text.length);
    editor.text.insert(0, `# New\n\n${long}`);
  });
  await expect.poll(async () => (await ana.expect(200, "GET", `/articles/${articleId}`)).revision).toBe(2);
  const { reviews } = await ana.expect(200, "GET", `${path}?limit=100`);
  const states = reviews.map(
    ({ anchor }: { anchor: { state: string; start: number; end: number; quote: string } }) =>
      `${anchor.state} ${`# New\n\n${long}`.slice(anchor.start, anchor.end) === anchor.quote}`,
  );
  expect(states).toEqual(Array.from({ length: 40 }, () => "anchored true"));
  editor.close();
});
