/** Runs the examples of the pages in docs exactly as they are written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExampleFolder, type ExampleFolder, readExample, root } from "../support/docExamples.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let folder: ExampleFolder;

beforeAll(async () => {
  server = await startServer({ SVC_ADMIN_USERNAME: "admin", SVC_ADMIN_PASSWORD: "correct horse battery", LIMITS: '{"rate.auth":"off"}' });
  folder = createExampleFolder(server.url);
});
afterAll(async () => {
  folder.remove();
  await server.remove();
});

test("[OP43] the example of docs/publishing.md works after the README's first minute", async () => {
  for (const [page, name] of [
    ["README.md", "first-minute"],
    ["docs/publishing.md", "publish"],
    ["docs/publishing.md", "publish"],
  ] as const) {
    expect(await folder.run(readExample(page, name))).toMatchObject({ code: 0, stderr: "" });
  }
});

test("[OP43] the examples show why the server refused a request", async () => {
  for (const page of [
    "README.md",
    "docs/articles.md",
    "docs/authentication.md",
    "docs/conversions.md",
    "docs/folders.md",
    "docs/publishing.md",
    "docs/reviews.md",
    "docs/runs.md",
    "docs/templates.md",
    "docs/search.md",
    "docs/topics.md",
    "docs/webhooks.md",
    "docs/workspaces.md",
  ]) {
    const lines = readFileSync(join(root, page), "utf8").split("\n");
    const helpers = lines.filter((line) => line.startsWith("field()"));
    expect(helpers.length, page).toBeGreaterThan(0);
    for (const helper of helpers) {
      const { code, stderr } = await folder.run(`${helper}\necho '{"code":"name_taken","detail":"The slug is taken."}' | field url\n`);
      expect(code, page).not.toBe(0);
      // A message, not the stack of an error.
      expect(stderr, page).toBe("The slug is taken.\n");
      expect((await folder.run(`${helper}\ntrue | field url\n`)).stderr, page).toBe("");
    }
  }
});

test.each([
  ["docs/authentication.md", "sign-in", ["admin", "204"]],
  ["docs/authentication.md", "web-session", ["900", "900", "insufficient_permission", "204", "unauthenticated"]],
  ["docs/authentication.md", "api-key", ["write", "insufficient_scope", "revoked", "key_revoked"]],
  ["docs/workspaces.md", "members", ["bob", "member", "admin", "admin: owner, bob: admin", "Handbook", "204", "not_found"]],
  ["docs/articles.md", "edit", ["2", "true", "Uno.", "Two.", "", "2", "<p>Uno."]],
  ["docs/conversions.md", "convert", ["# Kites", "", "A **kite** needs wind.", "Kites", "import", "Kites.docx"]],
  ["docs/reviews.md", "review", ["admin", "teh", "accepted", "It is the draft.", "", "Accept suggestion of admin"]],
  ["docs/templates.md", "template", ["# Kites 2.0", ""]],
  ["docs/folders.md", "folders", ["cycle", "drafts", "succeeded", "content_project_archived", "folder_not_empty", "2"]],
  ["docs/search.md", "search", ["commit", "We <mark>met</mark> at the <mark>Café</mark>."]],
  ["docs/topics.md", "topic", ["T-1", "200", "1", "drafted", "draft_generated, topic_shortlisted, topic_updated, topic_created"]],
  ["docs/runs.md", "outline", ["approved", "event: agent.run_started", "event: agent.run_completed", "# Backups that restore"]],
  ["docs/publishing.md", "publish", ["First.", "snapshot", "2", "First.", "2", "First.", "Second.", "204", "unpublished"]],
])("[OP43] %s: the example %s prints what the page says, each time", async (page, name, lines) => {
  const printed = { code: 0, stdout: `${lines.join("\n")}\n`, stderr: "" };
  expect(await folder.run(readExample(page, name))).toEqual(printed);
  // Accounts are never deleted, so an example that makes one can only say why it does not work again.
  const makesAccount = name === "members";
  const again = makesAccount ? { code: 1, stdout: "", stderr: "This username belongs to another account.\n" } : printed;
  expect(await folder.run(readExample(page, name))).toEqual(again);
});
