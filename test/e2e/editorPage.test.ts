/** Runs the code of docs/editor.md exactly as written against a real server that stops and starts again. */
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { WebsocketProvider } from "y-websocket";
import type * as Y from "yjs";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { createExampleFolder, type ExampleFolder, namedPackages } from "../support/docExamples.ts";
import { type RunningServer, type Settings, startServer } from "../support/server.ts";

const page = "docs/editor.md";
/** The account of the README, with which the pages sign in. */
const admin = { username: "admin", password: "correct horse battery" };

interface State {
  readonly open: boolean;
  readonly writable: boolean;
  readonly saved: boolean;
  readonly problem?: string;
}

interface PageEditor {
  readonly doc: Y.Doc;
  readonly text: Y.Text;
  readonly provider: WebsocketProvider;
  connect(): Promise<void>;
  close(): void;
}

type Call = (method: string, path: string, body?: unknown) => Promise<{ ticket: string }>;

interface PageCode {
  openEditor(options: { url: string; articleId: string; getTicket: () => Promise<string>; onState?: (state: State) => void }): PageEditor;
  signIn(url: string, username: string, password: string): Promise<Call>;
}

let server: RunningServer;
let rest: Rest;
let workspaceId: string;
let articleId: string;
let folder: ExampleFolder;
const editors: PageEditor[] = [];

beforeEach(() => {
  vi.stubGlobal("WebSocket", WebSocket);
});
afterEach(async () => {
  for (const editor of editors.splice(0)) editor.close();
  folder.remove();
  await server.remove();
  vi.unstubAllGlobals();
});

async function started(settings: Settings = {}): Promise<void> {
  server = await startServer({ SVC_ADMIN_USERNAME: admin.username, SVC_ADMIN_PASSWORD: admin.password, ...settings });
  folder = createExampleFolder(server.url, namedPackages(page));
  rest = await signIn(server.url, admin);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
  articleId = (await rest.expect(201, "POST", "/articles", { workspaceId, title: "Typed" })).articleId;
}

async function pageCode(): Promise<PageCode> {
  const files = [folder.save("docs/authentication.md", "session.mjs"), folder.save(page, "editor.mjs")];
  const [session, editor] = await Promise.all(files.map((file) => import(/* @vite-ignore */ pathToFileURL(file).href)));
  return { ...session, ...editor };
}

const ticketOf = async (from: Rest) => {
  const { status, body } = await from.request("POST", "/auth/stream-ticket", { resource: `article:${articleId}` });
  if (status !== 201) throw Object.assign(new Error(body.detail), { status });
  return body.ticket as string;
};

/** Opens the article with the code of the page. `state()` returns what the code reported last. */
async function open(getTicket: () => Promise<string> = () => ticketOf(rest)) {
  const { openEditor } = await pageCode();
  let state: State = { open: false, writable: false, saved: true };
  const tickets: string[] = [];
  const editor = openEditor({
    url: server.url,
    articleId,
    getTicket: async () => {
      tickets.push(await getTicket());
      return tickets.at(-1) as string;
    },
    onState: (now) => {
      state = now;
    },
  });
  editors.push(editor);
  const until = (wanted: Partial<Record<keyof State, unknown>>) => vi.waitFor(() => expect(state).toMatchObject(wanted), 30_000);
  await until({ open: true });
  return { ...editor, tickets, state: () => state, until, type: (text: string) => editor.text.insert(editor.text.length, text) };
}

const stored = async () => (await rest.expect(200, "GET", `/articles/${articleId}/content`)).content as string;

/** Returns the code with which the server closes a new socket with this ticket; undefined while the ticket is valid. */
function closeCodeOf(ticket: string): Promise<number | undefined> {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/collab/${articleId}?ticket=${ticket}`);
  return new Promise((resolve, reject) => {
    socket.once("message", () => {
      socket.close();
      resolve(undefined);
    });
    socket.once("close", resolve);
    socket.once("error", reject);
  });
}

test("[RT60] an editor that reconnects with an expired ticket gets a new one, and its text is stored", async () => {
  await started({ LIMITS: `{"keep.ticket":3000,"keep.accessToken":3000}` });
  const { signIn: pageSignIn } = await pageCode();
  const call = await pageSignIn(server.url, admin.username, admin.password);
  const editor = await open(async () => (await call("POST", "/auth/stream-ticket", { resource: `article:${articleId}` })).ticket);
  await vi.waitFor(async () => expect(await closeCodeOf(editor.tickets.at(-1) as string)).toBe(4401), 30_000);
  const used = editor.tickets.length;
  editor.type("The open socket outlives its ticket.\n");
  await editor.until({ open: true, writable: true, saved: true });
  expect(editor.tickets).toHaveLength(used);

  await server.kill();
  await editor.until({ open: false });
  editor.type("Typed while the server was gone.\n");
  expect(editor.state()).toMatchObject({ saved: false });
  await server.start({ LIMITS: "{}" });
  await editor.until({ open: true, writable: true, saved: true });
  expect(editor.tickets).toHaveLength(used + 1);
  rest = await signIn(server.url, admin);
  expect(await stored()).toBe("The open socket outlives its ticket.\nTyped while the server was gone.\n");
});

test("[RT61] an editor reports text as saved only when it is stored, through restarts and a kill", async () => {
  await started();
  const editor = await open();
  let expected = "";
  for (const end of ["kill", "stop", "kill"] as const) {
    const before = `Before the ${end}.\n`;
    editor.type(before);
    await editor.until({ saved: true });
    await server[end]();
    expected += before;
    await editor.until({ open: false, writable: false });
    editor.type(`After the ${end}.\n`);
    await server.start();
    await editor.until({ open: true, writable: true, saved: true });
    expected += `After the ${end}.\n`;
    await server.kill();
    await server.start();
    expect(await stored()).toBe(expected);
    await editor.until({ open: true });
  }
  expect(editor.tickets).toHaveLength(1);
});

test("[RT62] after a revoked key or a sign-out, an editor keeps its text until a new credential", async () => {
  await started();
  const { key, keyId } = await rest.expect(201, "POST", "/api-keys", { name: "Editor" });
  let credential = createRest(server.url, { "x-api-key": key });
  const editor = await open(() => ticketOf(credential));
  editor.type("Stored with the key.\n");
  await editor.until({ saved: true });
  await rest.expect(200, "POST", `/api-keys/${keyId}/revoke`);
  await editor.until({ open: false, problem: expect.stringContaining("(4410)") });
  editor.type("Typed after the key was revoked.\n");
  await editor.connect();
  await editor.until({ open: false, saved: false, problem: expect.stringContaining("revoked") });
  credential = rest;
  await editor.connect();
  await editor.until({ open: true, writable: true, saved: true });
  expect(editor.state().problem).toBe(undefined);
  expect(await stored()).toBe("Stored with the key.\nTyped after the key was revoked.\n");

  await rest.expect(204, "POST", "/auth/logout");
  await editor.until({ open: false, problem: expect.stringContaining("session") });
  editor.type("Typed after the sign-out.\n");
  rest = await signIn(server.url, admin);
  credential = rest;
  await editor.connect();
  await editor.until({ open: true, saved: true });
  expect(await stored()).toContain("Typed after the sign-out.\n");
});

test("[RT63] a reader's typing never counts as saved, and an editor shows that access was lost", async () => {
  await started();
  const { key } = await rest.expect(201, "POST", "/api-keys", { name: "Reader", scopes: ["articles:read"] });
  const reader = await open(() => ticketOf(createRest(server.url, { "x-api-key": key })));
  const writer = await open();
  await writer.until({ writable: true });
  expect(reader.state()).toMatchObject({ open: true, writable: false, saved: true });
  writer.type("Seen by the reader.\n");
  await writer.until({ saved: true });
  await vi.waitFor(() => expect(reader.text.toString()).toBe("Seen by the reader.\n"), 30_000);
  reader.type("Not stored.\n");
  await reader.until({ saved: false, writable: false, problem: expect.stringContaining("read") });
  reader.provider.disconnect();
  await reader.connect();
  await reader.until({ open: true, saved: false, writable: false });

  await rest.expect(201, "POST", "/accounts", { username: "bob", password: "correct horse battery" });
  const bob = await signIn(server.url, { username: "bob", password: "correct horse battery" });
  const team = await rest.expect(201, "POST", "/workspaces", { name: "Team", type: "team" });
  await rest.expect(201, "POST", `/workspaces/${team.workspaceId}/members`, { username: "bob", role: "member" });
  const reading = articleId;
  articleId = (await rest.expect(201, "POST", "/articles", { workspaceId: team.workspaceId, title: "Shared" })).articleId;
  const member = await open(() => ticketOf(bob));
  await member.until({ writable: true });
  await rest.expect(204, "DELETE", `/workspaces/${team.workspaceId}/members/bob`);
  await member.until({ open: false, problem: expect.stringContaining("(4403)") });
  articleId = reading;
  expect(await stored()).toBe("Seen by the reader.\n");
});

test("[RT64] text that the server refuses never counts as saved, and a full text is stored once it is shorter", async () => {
  await started({ LIMITS: `{"article.file":60}` });
  const other = await open();
  await other.until({ writable: true });
  for (let at = 0; at < 3; at += 1) other.doc.getMap("prosemirror").set("key", at);
  await other.until({ open: false, saved: false, problem: expect.stringContaining('The root "prosemirror" is refused') });

  const full = await open();
  await full.until({ writable: true });
  full.type("Fits.\n");
  await full.until({ saved: true });
  for (let at = 0; at < 3; at += 1) full.type("x".repeat(100));
  const problem = "content.md may have at most 60 bytes of UTF-8 text.";
  await full.until({ open: false, saved: false, problem });
  expect(await stored()).toBe("Fits.\n");
  await full.connect();
  await full.until({ open: false, saved: false, problem });
  full.text.delete(10, full.text.length - 10);
  await full.connect();
  await full.until({ open: true, saved: true, problem: undefined });
  expect(await stored()).toBe("Fits.\nxxxx");
});

test("[RT118] a large paste is stored, and one above frame.bytes stops the connection with a reason", async () => {
  await started({ LIMITS: `{"article.file":16777216,"document.bytes":67108864}` });
  const editor = await open();
  await editor.until({ writable: true });
  const connections: string[] = [];
  editor.provider.on("status", ({ status }) => connections.push(status));
  const paste = "x".repeat(1_500_000);
  editor.type(paste);
  await editor.until({ open: true, saved: true, problem: undefined });
  expect(connections).toEqual(["disconnected", "connecting", "connected"]);
  expect((await stored()).length).toBe(paste.length);

  for (const bytes of [5 * 1024 * 1024, 9 * 1024 * 1024]) {
    connections.length = 0;
    const before = editor.text.length;
    editor.type("y".repeat(bytes));
    await editor.until({ open: false, saved: false, problem: expect.stringMatching(/at most 4194304 at once\. Copy the text/) });
    editor.type("z");
    expect(connections.filter((status) => status === "connected")).toHaveLength(1);
    expect(editor.provider.shouldConnect).toBe(false);
    editor.text.delete(before, bytes);
    await editor.connect();
    await editor.until({ open: true, saved: true, problem: undefined });
  }
  expect(await stored()).toBe(`${paste}zz`);
});

test("[RT118] after 1009 an editor stays closed, with a reason, until it may connect again", async () => {
  await started({ LIMITS: `{"frame.bytes":65536,"frame.update":65536}` });
  const editor = await open();
  await editor.until({ writable: true });
  editor.type("x".repeat(100_000));
  await editor.until({ open: false, writable: false, saved: false, problem: expect.stringMatching(/\(1009\)\. Copy the text/) });
  expect(editor.provider.shouldConnect).toBe(false);
  editor.text.delete(0, 90_000);
  await editor.connect();
  await editor.until({ open: true, writable: true, saved: true, problem: undefined });
});

test("[RT119] an editor reports why fresh tickets are refused, and tries again while the article is full", async () => {
  await started({ LIMITS: `{"sockets.article":1}` });
  const first = await open();
  const { openEditor } = await pageCode();
  const states: State[] = [];
  const last = () => states.at(-1);
  const second = openEditor({ url: server.url, articleId, getTicket: () => ticketOf(rest), onState: (state) => states.push(state) });
  editors.push(second);
  await vi.waitFor(() => expect(last()).toMatchObject({ open: false, problem: expect.stringContaining("(4429)") }), 30_000);
  first.close();
  await vi.waitFor(() => expect(last()).toMatchObject({ open: true, writable: true, problem: undefined }), 30_000);
  second.close();

  let tickets = 0;
  const wrong = openEditor({
    url: server.url,
    articleId,
    getTicket: async () => {
      tickets += 1;
      return '{"ticket":"not a ticket"}';
    },
    onState: (state) => states.push(state),
  });
  editors.push(wrong);
  await vi.waitFor(() => expect(last()).toMatchObject({ open: false, problem: expect.stringContaining("(4401)") }), 30_000);
  expect(tickets).toBe(2);
});

test("[RT119] an editor of an account that was disabled says so", async () => {
  await started();
  const bob = { username: "bob", password: "correct horse battery" };
  await rest.expect(201, "POST", "/accounts", bob);
  const { signIn: pageSignIn } = await pageCode();
  const call = await pageSignIn(server.url, bob.username, bob.password);
  const own = await signIn(server.url, bob);
  const [workspace] = (await own.expect(200, "GET", "/workspaces")).workspaces;
  articleId = (await own.expect(201, "POST", "/articles", { workspaceId: workspace.workspaceId, title: "Bob's" })).articleId;
  const editor = await open(async () => (await call("POST", "/auth/stream-ticket", { resource: `article:${articleId}` })).ticket);
  await rest.expect(200, "PATCH", "/accounts/bob", { disabled: true });
  await editor.until({
    open: false,
    writable: false,
    problem: expect.stringMatching(/^the account was disabled by an operator \(4401\): /),
  });
});

test("[OP43] the program of docs/editor.md runs from an empty folder, stores its text and ends", async () => {
  await started();
  folder.save("docs/authentication.md", "session.mjs");
  for (const name of ["editor.mjs", "main.mjs"]) folder.save(page, name);
  const { code, stdout, stderr } = await folder.run("node main.mjs\n");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n").at(-1)).toBe("{ open: true, writable: true, saved: true, problem: undefined }");
  const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}`);
  articleId = articles[0].articleId;
  expect(await stored()).toBe("Typed live.\n");
});
