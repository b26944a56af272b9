/** Tests names and e-mail addresses of accounts over HTTP: they are shown after they are set, and null removes them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, createTrpc, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const password = "correct horse battery";
let server: RunningServer;
let operator: Rest;

beforeAll(async () => {
  server = await startServer();
  operator = await signIn(server.url, server.operator);
});
afterAll(() => server.remove());

async function newPerson(username: string): Promise<Rest> {
  await operator.expect(201, "POST", "/accounts", { username, password });
  return signIn(server.url, { username, password });
}

test("[AU36] /auth/me shows a session the e-mail address that it may set, but not a key", async () => {
  const ann = await newPerson("ann");
  expect(await ann.expect(200, "PATCH", "/auth/me", { email: "Ann@Example.com" })).toMatchObject({ email: "Ann@Example.com" });
  expect(await ann.expect(200, "GET", "/auth/me")).toMatchObject({ username: "ann", email: "Ann@Example.com" });
  expect(await createTrpc(ann).auth.me.query()).toMatchObject({ email: "Ann@Example.com" });
  const { key } = await ann.expect(201, "POST", "/api-keys", { name: "key" });
  expect(await createRest(server.url, { "x-api-key": key }).expect(200, "GET", "/auth/me")).not.toHaveProperty("email");
});

test("[AU37] null clears one's own display name and e-mail address, and frees the address", async () => {
  const [ben, cat] = [await newPerson("ben"), await newPerson("cat")];
  await ben.expect(200, "PATCH", "/auth/me", { displayName: "Ben", email: "ben@example.com" });
  expect((await cat.request("PATCH", "/auth/me", { email: "BEN@example.com" })).body.code).toBe("already_exists");
  const cleared = await ben.expect(200, "PATCH", "/auth/me", { displayName: null, email: null });
  expect(Object.keys(cleared).sort()).toEqual(["credential", "operator", "username", "workspaces"]);
  expect(await ben.expect(200, "GET", "/auth/me")).toEqual(cleared);
  expect(await cat.expect(200, "PATCH", "/auth/me", { email: "BEN@example.com" })).toMatchObject({ email: "BEN@example.com" });
  expect((await ben.request("PATCH", "/auth/me", { displayName: "" })).status).toBe(422);
});

test("[AU37] null clears another account's display name and e-mail address for an operator", async () => {
  const named = { username: "dan", password, displayName: "Dan", email: "dan@example.com" };
  await operator.expect(201, "POST", "/accounts", named);
  const path = "/accounts/dan";
  expect(await operator.expect(200, "PATCH", path, { displayName: null })).toMatchObject({ email: "dan@example.com" });
  const cleared = await operator.expect(200, "PATCH", path, { email: null });
  expect(Object.keys(cleared).sort()).toEqual(["createdAt", "disabled", "operator", "username"]);
  await operator.expect(201, "POST", "/accounts", { ...named, username: "dora" });
});

test("[AU38] only operators read an account at its own address, with a tag for conditional changes", async () => {
  const eve = await newPerson("eve");
  const read = await operator.request("GET", "/accounts/EVE");
  expect([read.status, read.body.username]).toEqual([200, "eve"]);
  const ifMatch = { "if-match": read.headers.get("etag") ?? "" };
  expect((await operator.request("GET", "/accounts/eve", undefined, { "if-none-match": ifMatch["if-match"] })).status).toBe(304);
  expect((await operator.request("PATCH", "/accounts/eve", { displayName: "Eve" }, ifMatch)).status).toBe(200);
  expect((await operator.request("PATCH", "/accounts/eve", { displayName: "Eva" }, ifMatch)).status).toBe(412);
  expect((await operator.request("GET", "/accounts/nobody")).status).toBe(404);
  expect((await eve.request("GET", "/accounts/eve")).status).toBe(403);
});

test("[WS15] everyone in the workspace reads a member at its own address", async () => {
  const fay = await newPerson("fay");
  const { workspaceId } = await operator.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" });
  const members = `/workspaces/${workspaceId}/members`;
  expect((await fay.request("GET", `${members}/operator`)).status).toBe(404);
  await operator.expect(201, "POST", members, { username: "fay", role: "member" });
  expect(await fay.expect(200, "GET", `${members}/operator`)).toEqual({ username: "operator", role: "owner", type: "direct" });
  expect(await operator.expect(200, "GET", `${members}/FAY`)).toEqual({ username: "fay", role: "member", type: "direct" });
  expect((await operator.request("GET", `${members}/ann`)).status).toBe(404);
});
