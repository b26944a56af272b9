/** Display names in presence, through stock editors on the real server; on Redis the editors are on two nodes. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createRest, type Editor, openEditor, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const password = "correct horse battery";
let server: RunningServer;
/** Another node on the same store if the store is Redis; otherwise the only node. */
let other: RunningServer;
let operator: Rest;
let articleId: string;
const editors: Editor[] = [];

beforeAll(async () => {
  const settings = { BASE_URL: "http://127.0.0.1:8787" };
  server = await startServer(settings);
  other = server.store?.kind === "redis" ? await startServer({ ...settings, ...server.store.settings }) : server;
  operator = await signIn(server.url, server.operator);
  const { workspaceId } = await operator.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" });
  ({ articleId } = await operator.expect(201, "POST", "/articles", { workspaceId, title: "Kites" }));
  await operator.expect(201, "POST", "/accounts", { username: "ann", displayName: "Ann Lee", password });
  await operator.expect(201, "POST", `/workspaces/${workspaceId}/members`, { username: "ann", role: "member" });
});
afterEach(() => {
  for (const editor of editors.splice(0)) editor.close();
});
afterAll(async () => {
  if (other !== server) await other.remove();
  await server.remove();
});

async function open(rest: Rest): Promise<Editor> {
  const editor = await openEditor(rest, articleId);
  editors.push(editor);
  return editor;
}

const elsewhere = (rest: Rest) => createRest(other.url, rest.headers);
/** State that `reader` shows for the client id of `of`. */
const shown = (reader: Editor, of: Editor) => reader.provider.awareness.getStates().get(of.document.clientID)?.user;

test("[RT44] people appear under their display name, or else their username, on every node", async () => {
  const ann = await signIn(server.url, { username: "ann", password });
  const [reader, writer] = [await open(operator), await open(elsewhere(ann))];
  await expect.poll(() => shown(reader, writer)).toMatchObject({ name: "Ann Lee", username: "ann", kind: "user" });
  await expect.poll(() => shown(writer, reader)).toMatchObject({ name: "operator", username: "operator" });
  const { key } = await ann.expect(201, "POST", "/api-keys", { name: "key" });
  const program = await open(createRest(server.url, { "x-api-key": key }));
  await expect.poll(() => shown(writer, program)).toMatchObject({ name: "Ann Lee", username: "ann", kind: "key" });
});

test("[RT45] a client's own fields of user are kept next to those that the server sets", async () => {
  const ann = await signIn(server.url, { username: "ann", password });
  const [reader, writer] = [await open(operator), await open(elsewhere(ann))];
  const own = { role: "editor", avatar: "https://example.com/ann.png", name: "Operator", username: "operator", kind: "agent" };
  writer.provider.awareness.setLocalStateField("user", own);
  await expect
    .poll(() => shown(reader, writer))
    .toMatchObject({ role: "editor", avatar: "https://example.com/ann.png", name: "Ann Lee", username: "ann", kind: "user" });
});

test("[RT46] a changed or cleared display name appears at once on open sockets, own fields kept", async () => {
  const ann = await signIn(server.url, { username: "ann", password });
  const [reader, writer] = [await open(operator), await open(elsewhere(ann))];
  writer.provider.awareness.setLocalStateField("user", { role: "editor" });
  await expect.poll(() => shown(reader, writer)).toMatchObject({ name: "Ann Lee", role: "editor" });
  await ann.expect(200, "PATCH", "/auth/me", { displayName: "Ann Park" });
  await expect.poll(() => shown(reader, writer)).toMatchObject({ name: "Ann Park", role: "editor" });
  await operator.expect(200, "PATCH", "/accounts/ann", { displayName: null });
  await expect.poll(() => shown(reader, writer)).toMatchObject({ name: "ann", username: "ann", role: "editor" });
  await ann.expect(200, "PATCH", "/auth/me", { displayName: "Ann Lee" });
  await expect.poll(() => shown(reader, writer)).toMatchObject({ name: "Ann Lee" });
  expect(writer.provider.wsconnected).toBe(true);
});
