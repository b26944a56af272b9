/** Tests the events that reviews and agents add to the stream of an article, on the real server and either store. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ArticleEvent } from "../../api/schema/articleEvent.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { articleEventsOf, closeReaders, openReader } from "../support/eventReader.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { startWaitingRun } from "../support/waitingRun.ts";

const password = "correct horse battery";

let server: RunningServer;
let rest: Rest;
let bo: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer();
  rest = await signIn(server.url, server.operator);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
  await rest.expect(201, "POST", "/accounts", { username: "bo", password });
  await rest.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username: "bo", role: "member" });
  bo = await signIn(server.url, { username: "bo", password });
});
afterEach(closeReaders);
afterAll(() => server.remove());

/** The kept events of the article up to the first one that `isLast` selects. */
async function eventsUntil(articleId: string, isLast: (event: ArticleEvent) => boolean): Promise<readonly ArticleEvent[]> {
  const reading = await openReader(rest, `/articles/${articleId}/stream?from=start`);
  return articleEventsOf(await reading.until((told) => articleEventsOf(told).some(isLast)));
}

test("[RV25] comments, replies and the ends of reviews are events of the article, once each and in order", async () => {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Kites", content: "It needs teh wind.\n" });
  const reviews = `/articles/${articleId}/reviews`;
  const { reviewId: comment } = await rest.expect(201, "POST", reviews, { body: "See @bo." });
  const { replyId } = await bo.expect(201, "POST", `/reviews/${comment}/replies`, { body: "Seen." });
  await rest.expect(200, "PATCH", `/reviews/${comment}`, { body: "See." });
  for (const status of ["resolved", "resolved", "open"]) await bo.expect(200, "PATCH", `/reviews/${comment}`, { status });
  const suggest = (replacement: string) =>
    rest.expect(201, "POST", reviews, { body: "Typo.", kind: "suggestion", anchor: { quote: "teh" }, replacement });
  const [{ reviewId: rejected }, { reviewId: accepted }] = [await suggest("them"), await suggest("the")];
  await bo.expect(200, "POST", `/reviews/${rejected}/reject`);
  const headers = { "idempotency-key": "accept once" };
  for (let time = 0; time < 2; time += 1) await bo.expect(200, "POST", `/reviews/${accepted}/accept`, undefined, headers);
  await rest.expect(204, "DELETE", `/reviews/${comment}`);

  const isAccepted = ({ event, data }: ArticleEvent) => event === "document.committed" && data.message.startsWith("Accept");
  const events = (await eventsUntil(articleId, isAccepted)).filter(({ event }) => event.startsWith("review."));
  const { username } = server.operator;
  const author = { username, kind: "user" };
  const created = { file: "content.md", author, mentions: [] };
  expect(events.map(({ event, actor, data }) => [event, actor, data])).toEqual([
    ["review.created", username, { ...created, reviewId: comment, kind: "comment", mentions: ["bo"] }],
    ["review.replied", "bo", { reviewId: comment, replyId, author: { username: "bo", kind: "user" }, mentions: [] }],
    ["review.resolved", "bo", { reviewId: comment, status: "resolved" }],
    ["review.created", username, { ...created, reviewId: rejected, kind: "suggestion" }],
    ["review.created", username, { ...created, reviewId: accepted, kind: "suggestion" }],
    ["review.resolved", "bo", { reviewId: rejected, status: "rejected" }],
    ["review.resolved", "bo", { reviewId: accepted, status: "accepted" }],
  ]);
  for (const event of events) expect(event).toMatchObject({ articleId, workspaceId, createdAt: expect.any(String) });
});

test("[SE66] the commit of an agent is an event of the article, with its run and the agent as an author", async () => {
  const { runId } = await startWaitingRun(rest, workspaceId);
  const { articleId, topicId } = await rest.expect(200, "GET", `/runs/${runId}`);
  const events = await eventsUntil(articleId, ({ event, data }) => event === "document.committed" && data.kind === "agent");
  const { commits } = await rest.expect(200, "GET", `/articles/${articleId}/commits?kind=agent`);
  const [commit] = commits;
  expect(events.at(-1)).toMatchObject({
    event: "document.committed",
    actor: server.operator.username,
    articleId,
    topicId,
    data: { commitId: commit.commitId, revision: commit.revision, runId, authors: [{ username: server.operator.username, kind: "agent" }] },
  });
});
