/** A workspace as a small team has it: folders, articles, topics in several states, a run that waits, comments, a public page. */
import type { Rest } from "./clients.ts";
import { createDesk, type Desk } from "./desk.ts";
import { arabicPage, chinesePage, richPage } from "./samplePages.ts";
import type { RunningServer } from "./server.ts";
import { makeTopic, startWaitingRun } from "./waitingRun.ts";

export interface SampleWorkspace extends Desk {
  /** The article with reviews, commits and a public page. */
  readonly articleId: string;
  readonly runId: string;
  /** The topic of the run. */
  readonly topicId: string;
}

const shortArticles = [
  [
    "Release notes, November",
    "# Release notes\n\nWhat changed this month, and why it did.\n\n- Faster search\n- Folders can be archived\n",
  ],
  ["How we write", "# How we write\n\nShort sentences. The subject first. One idea in each paragraph.\n"],
  ["Interview: a keeper of lighthouses", "# A keeper of lighthouses\n\n> The light is the smallest part of the work.\n"],
  ["Backups that were tested", "# Backups that were tested\n\nA backup is a promise. A restore keeps it.\n"],
  ["Ten questions before a launch", "# Ten questions\n\n1. Who is it for?\n2. What do they do today?\n3. What do they stop doing?\n"],
  ["Kites in high wind", "# Kites in high wind\n\nA kite flies because it resists.\n"],
] as const;

const topicTitles = [
  "What a lighthouse teaches about signals",
  "Why drafts are lost",
  "A calm guide to incident reviews",
  "Keywords without nonsense",
  "How long should an article be",
] as const;

async function fillFolders(rest: Rest, workspaceId: string) {
  const create = async (name: string, more: object = {}) =>
    (await rest.expect(201, "POST", "/folders", { workspaceId, name, ...more })).folderId as string;
  const guides = await create("Guides");
  await create("Style", { parentFolderId: guides });
  const news = await create("News");
  return { guides, news, project: await create("Lighthouse series", { contentProject: {} }) };
}

export async function createSampleWorkspace(server: Pick<RunningServer, "url" | "operator">): Promise<SampleWorkspace> {
  const desk = await createDesk(server);
  const { workspaceId, ana, bo } = desk;
  const { guides, news, project } = await fillFolders(ana, workspaceId);
  const create = async (rest: Rest, article: object) =>
    (await rest.expect(201, "POST", "/articles", { workspaceId, ...article })).articleId as string;
  for (const [at, [title, content]] of shortArticles.entries()) {
    await create(at % 2 === 0 ? ana : bo, { title, content, folderId: at % 3 === 0 ? news : guides });
  }
  for (const { title, content } of [arabicPage, chinesePage]) await create(bo, { title, content, folderId: project });
  const articleId = await create(ana, { title: richPage.title, content: richPage.content, folderId: project });

  await ana.expect(200, "PATCH", `/articles/${articleId}/content`, {
    mode: "patch",
    edits: [{ find: "A lamp on a beach", replace: "A lamp on the beach" }],
    message: "Say which beach",
  });
  await bo.expect(201, "POST", `/articles/${articleId}/reviews`, {
    body: "@ana is this still true with fog? A reader will ask.",
    anchor: { quote: "It is the curve of the sea" },
  });
  const suggestion = await bo.expect(201, "POST", `/articles/${articleId}/reviews`, {
    body: "Shorter, and it keeps the rhythm.",
    kind: "suggestion",
    anchor: { quote: "and no stronger bulb would do the same" },
    replacement: "and no stronger bulb would do that",
  });
  await ana.expect(201, "POST", `/reviews/${suggestion.reviewId}/replies`, { body: "Yes. @bo please look at the next sentence too." });
  await ana.expect(201, "PUT", `/articles/${articleId}/public-link`, { mode: "live" });

  for (const title of topicTitles) await makeTopic(ana, workspaceId, title);
  const { runId, topicId } = await startWaitingRun(ana, workspaceId, "Kites in high wind");
  return { ...desk, articleId, runId, topicId };
}
