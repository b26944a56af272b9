/** Tests templates and the articles that are created from them, on the real server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, createTrpc, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let rest: Rest;
let workspaceId: string;

const maxTemplates = 8;
const maxBytes = 2 * 1024 * 1024;

beforeAll(async () => {
  server = await startServer({ LIMITS: JSON.stringify({ "template.perWorkspace": maxTemplates }) });
  rest = await signIn(server.url, server.operator);
});
afterAll(() => server.remove());

const create = (body: object, headers?: Record<string, string>) =>
  rest.request("POST", "/templates", { workspaceId, content: "", ...body }, headers);
const made = async (body: object) => {
  const answer = await create(body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const newWorkspace = async () => {
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
};
const pointersOf = ({ body }: { readonly body: { readonly errors?: readonly { readonly pointer: string }[] } }) =>
  (body.errors ?? []).map(({ pointer }) => pointer);
const textOf = async (articleId: string) => (await rest.expect(200, "GET", `/articles/${articleId}/content`)).content;
const release = {
  name: "Release notes",
  description: "For each release.",
  content: "# {{product}} {{ version }}\n\n\\{{product}} {{other}}\n",
  articleType: "reference",
  articleFormat: "listicle",
  variables: [{ name: "product", label: "Name of the product", required: true }, { name: "version" }],
};

test("[TM1][TM2] a template is created, read and found by its name, which is taken in every case", async () => {
  await newWorkspace();
  const answer = await create(release);
  const { templateId } = answer.body;
  expect([answer.status, answer.headers.get("location"), answer.headers.get("etag")]).toEqual([201, `/templates/${templateId}`, '"r1"']);
  const variables = [release.variables[0], { name: "version", label: "version", required: false }];
  const own = {
    templateId,
    workspaceId,
    createdBy: server.operator.username,
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
  };
  expect(answer.body).toEqual({ ...release, ...own, variables });
  expect(await rest.expect(200, "GET", `/templates/${templateId}`)).toEqual(answer.body);
  expect(await rest.expect(200, "GET", `/templates?workspaceId=${workspaceId}`)).toEqual({ templates: [answer.body] });
  expect((await create({ name: "RELEASE notes" })).body).toMatchObject({ status: 409, code: "name_taken" });
  const raced = await Promise.all(Array.from({ length: 5 }, () => create({ name: "Race" })));
  expect(raced.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  expect((await made({ name: "Bare" })).variables).toEqual([]);
});

test("[TM2] texts that no article can hold are refused, and so are names that occur twice", async () => {
  await newWorkspace();
  expect((await create({ name: "Nul", content: "a\0b" })).body).toMatchObject({ status: 422, code: "content_not_accepted" });
  expect((await create({ name: "Long", content: "x".repeat(maxBytes + 1) })).body).toMatchObject({
    code: "content_too_large",
  });
  const content = "é\r\n\t{{x}}  \n".repeat(5000);
  const { templateId } = await made({ name: "Kept", content });
  expect((await rest.expect(200, "GET", `/templates/${templateId}`)).content).toBe(content);
  for (const names of [["a", "a"], ["1a"], ["__proto__"], ["a b"], [""], ["x".repeat(65)]]) {
    const refused = await create({ name: "Bad", variables: names.map((name) => ({ name })) });
    expect([refused.status, pointersOf(refused)[0]]).toEqual([422, expect.stringMatching(/^\/variables/)]);
  }
});

test("[TM1] more templates than template.perWorkspace are refused", async () => {
  await newWorkspace();
  const answers = await Promise.all(Array.from({ length: maxTemplates + 2 }, (_, at) => create({ name: `Template ${at}` })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(maxTemplates);
  expect(answers.filter(({ body }) => body.code === "limit_reached")).toHaveLength(2);
});

test("[TM3][TM8] an article is created from a template in both ways, and names it", async () => {
  await newWorkspace();
  const { templateId } = await made(release);
  const variables = { product: "Kites", version: "2.0 {{product}}" };
  const text = "# Kites 2.0 {{product}}\n\n{{product}} {{other}}\n";
  const first = await rest.request("POST", `/templates/${templateId}/instantiate`, { title: "Kites {{version}}", variables });
  expect([first.status, first.headers.get("location"), first.headers.get("etag")]).toEqual([
    201,
    `/articles/${first.body.articleId}`,
    '"r1-1"',
  ]);
  const second = await rest.request("POST", "/articles", { workspaceId, title: "Kites {{version}}", templateId, variables });
  for (const { body } of [first, second]) {
    expect(body).toMatchObject({ title: "Kites {{version}}", templateId, workspaceId, folderId: null, revision: 1 });
    expect(await textOf(body.articleId)).toBe(text);
  }
  expect(first.body.contentHash).toBe(second.body.contentHash);
  const bare = await rest.expect(201, "POST", `/templates/${templateId}/instantiate`, { title: "Bare", variables: { product: "Kites" } });
  expect(await textOf(bare.articleId)).toBe("# Kites \n\n{{product}} {{other}}\n");
  const trpc = createTrpc(rest);
  expect((await trpc.templates.instantiate.mutate({ templateId, title: "By tRPC", variables })).templateId).toBe(templateId);
});

test("[TM8] content together with a template, and values without one, are refused", async () => {
  await newWorkspace();
  const { templateId } = await made({ name: "Plain", content: "text\n" });
  const post = (body: object) => rest.request("POST", "/articles", { workspaceId, title: "No", ...body });
  const foreign = await rest.expect(201, "POST", "/workspaces", { name: "Other", type: "team" });
  const other = await rest.expect(201, "POST", "/templates", { workspaceId: foreign.workspaceId, name: "Plain", content: "secret\n" });
  for (const [body, pointer] of [
    [{ templateId, content: "x" }, "/content"],
    [{ variables: {} }, "/variables"],
    [{ templateId: other.templateId }, "/templateId"],
    [{ templateId: templateId.replace(/.$/, templateId.endsWith("0") ? "1" : "0") }, "/templateId"],
    [{ templateId, folderId: "fld_01KAHX0000050123456789ABCD" }, "/folderId"],
  ] as const) {
    const refused = await post(body);
    expect([refused.status, refused.body.code, pointersOf(refused)]).toEqual([422, "validation_failed", [pointer]]);
  }
  expect((await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}`)).articles).toEqual([]);
});

test("[TM5][TM6] missing, empty and unknown values and a text that is too long create no article", async () => {
  await newWorkspace();
  const { templateId } = await made({ ...release, content: "{{product}}".repeat(9000) });
  const post = (variables?: object) => rest.request("POST", `/templates/${templateId}/instantiate`, { title: "No", variables });
  expect(pointersOf(await post())).toEqual(["/variables/product"]);
  expect(pointersOf(await post({ product: "", typo: "x", version: "" }))).toEqual(["/variables/product", "/variables/typo"]);
  expect(pointersOf(await post({ product: 1 }))).toEqual(["/variables/product"]);
  expect((await post({ product: "x".repeat(60_000) })).body).toMatchObject({ status: 413, code: "content_too_large" });
  expect((await post({ product: "a\0" })).body).toMatchObject({ status: 422, code: "content_not_accepted" });
  expect((await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}`)).articles).toEqual([]);
  expect((await post({ product: "x".repeat(11) })).status).toBe(201);
});

test("[TM9] a key needs the scopes of templates for templates, and both for an article from one", async () => {
  await newWorkspace();
  const { templateId } = await made(release);
  const withScopes = async (...scopes: string[]) => {
    const { key } = await rest.expect(201, "POST", "/api-keys", { name: scopes.join() || "none", scopes });
    const own = createRest(server.url, { "x-api-key": key });
    return async (method: string, path: string, body?: object) => {
      const answer = await own.request(method, path, body);
      return [answer.status, answer.body.missingScopes];
    };
  };
  const article = { workspaceId, title: "By a key", templateId, variables: { product: "Kites" } };
  const { workspaceId: _workspaceId, templateId: _templateId, ...order } = article;
  const writer = await withScopes("articles:write");
  expect(await writer("GET", `/templates/${templateId}`)).toEqual([403, ["templates:read"]]);
  expect(await writer("POST", "/articles", article)).toEqual([403, ["templates:read"]]);
  expect(await writer("POST", `/templates/${templateId}/instantiate`, order)).toEqual([403, ["templates:read"]]);
  const reader = await withScopes("templates:read");
  expect(await reader("GET", `/templates?workspaceId=${workspaceId}`)).toEqual([200, undefined]);
  expect(await reader("PATCH", `/templates/${templateId}`, { name: "No" })).toEqual([403, ["templates:write"]]);
  expect(await reader("POST", `/templates/${templateId}/instantiate`, order)).toEqual([403, ["articles:write"]]);
  const both = await withScopes("templates:read", "articles:write");
  expect(await both("POST", "/articles", article)).toEqual([201, undefined]);
  expect(await both("POST", `/templates/${templateId}/instantiate`, order)).toEqual([201, undefined]);
});

test("[TM10] lists of templates keep filter and order over their pages", async () => {
  await newWorkspace();
  for (const name of ["Zebra", "apple pie", "Éclair", "Pie chart"]) await made({ name, content: name });
  const walk = async (query: string): Promise<string[]> => {
    const names: string[] = [];
    let token = "";
    do {
      const { templates, nextToken } = await rest.expect(200, "GET", `/templates?workspaceId=${workspaceId}&limit=1&${query}${token}`);
      names.push(...templates.map(({ name, content }: { name: string; content: string }) => (name === content ? name : "wrong text")));
      token = nextToken === undefined ? "" : `&nextToken=${nextToken}`;
    } while (token !== "");
    return names;
  };
  expect(await walk("")).toEqual(["Pie chart", "Éclair", "apple pie", "Zebra"]);
  expect(await walk("order=asc")).toEqual(["Zebra", "apple pie", "Éclair", "Pie chart"]);
  expect(await walk("sort=name")).toEqual(["apple pie", "Éclair", "Pie chart", "Zebra"]);
  expect(await walk("sort=name&order=desc&q=pie")).toEqual(["Pie chart", "apple pie"]);
  const { nextToken } = await rest.expect(200, "GET", `/templates?workspaceId=${workspaceId}&limit=1&sort=name`);
  const other = await rest.request("GET", `/templates?workspaceId=${workspaceId}&limit=1&nextToken=${nextToken}`);
  expect(other.body).toMatchObject({ status: 400, code: "invalid_next_token" });
});

test("[TM10] a page of long templates ends early, and its pages show each template once", async () => {
  await newWorkspace();
  const content = "x".repeat(maxBytes);
  for (const name of ["A", "B", "C"]) await made({ name, content });
  await made({ name: "D", content: "short" });
  const list = async (token: string) => {
    const { templates, nextToken } = await rest.expect(200, "GET", `/templates?workspaceId=${workspaceId}&sort=name${token}`);
    return { shown: templates.map((template: typeof release) => [template.name, template.content.length]), nextToken };
  };
  const first = await list("");
  const second = await list(`&nextToken=${first.nextToken}`);
  const long = (name: string) => [name, maxBytes];
  expect([first.shown, second.shown, second.nextToken]).toEqual([[long("A"), long("B")], [long("C"), ["D", 5]], undefined]);
});

test("[TM11] a change replaces the given fields, null removes, and articles stay as they are", async () => {
  await newWorkspace();
  const before = await made(release);
  const path = `/templates/${before.templateId}`;
  const { articleId } = await rest.expect(201, "POST", `${path}/instantiate`, { title: "Kites", variables: { product: "Kites" } });
  const text = await textOf(articleId);
  const same = await rest.request("PATCH", path, { name: release.name, content: release.content });
  expect([same.status, same.headers.get("etag"), same.body]).toEqual([200, '"r1"', before]);
  const changed = await rest.request("PATCH", path, { articleType: null, variables: [{ name: "who" }] }, { "if-match": '"r1"' });
  const { articleType: _articleType, ...rest_ } = before;
  const variables = [{ name: "who", label: "who", required: false }];
  expect(changed.body).toEqual({ ...rest_, variables, updatedAt: expect.any(Number) });
  expect((await rest.request("PATCH", path, { content: "late" }, { "if-match": '"r1"' })).status).toBe(412);
  expect((await rest.expect(200, "PATCH", path, { content: "# {{who}}\n", name: "Renamed" })).content).toBe("# {{who}}\n");
  expect((await rest.expect(200, "GET", path)).content).toBe("# {{who}}\n");
  expect(await textOf(articleId)).toBe(text);
  expect((await rest.request("DELETE", path)).status).toBe(204);
  expect((await rest.request("GET", path)).status).toBe(404);
  expect((await rest.request("POST", `${path}/instantiate`, { title: "Late" })).status).toBe(404);
  expect((await rest.expect(200, "GET", `/articles/${articleId}`)).templateId).toBe(before.templateId);
  expect((await create({ name: "Renamed" })).status).toBe(201);
});

test("[TM12] a request repeated under its key creates one template and one article", async () => {
  await newWorkspace();
  const key = (name: string) => ({ "idempotency-key": name });
  const first = await create(release, key("template"));
  const again = await create(release, key("template"));
  expect([again.status, again.body, again.headers.get("idempotency-replayed")]).toEqual([201, first.body, "true"]);
  const path = `/templates/${first.body.templateId}/instantiate`;
  const order = { title: "Once", variables: { product: "Kites" } };
  const [one, two] = [await rest.request("POST", path, order, key("article")), await rest.request("POST", path, order, key("article"))];
  expect(two.body).toEqual(one.body);
  expect((await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}`)).articles).toHaveLength(1);
});
