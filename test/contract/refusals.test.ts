/** Tests the order of refusals, credentials, scopes, roles and the shape of problems, over real sockets. */
import { describe, expect, it } from "vitest";
import { AppError, type ErrorCode, errorTable, Problem } from "../../api/schema/error.ts";
import { StorageFullError, StorageUnavailableError } from "../../server/platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../server/platform/storage/retryOnConflict.ts";
import { articleId, baseUrl, credentials, foreignWorkspaceId, useSurface, workspaceId } from "./surfaceFixture.ts";

const json = { "content-type": "application/json" };

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = Problem.parse(await response.json());
  expect(problem.status).toBe(response.status);
  expect(response.headers.get("x-request-id")).toBe(problem.requestId);
  return problem;
}

describe("refusals over REST", () => {
  const surface = useSurface();
  const webhooks = `/workspaces/${workspaceId}/webhooks`;

  it("[API1] a problem has every member, and its type links to a page that explains it", async () => {
    const response = await surface.fetch("GET", "/articles/art_none?x=1", { headers: { ...credentials.session, "x-request-id": "req-1" } });
    expect(await problemOf(response)).toEqual({
      type: `${baseUrl}/problems/not_found`,
      title: "Not found",
      status: 404,
      detail: expect.stringContaining("resource does not exist"),
      instance: "/articles/art_none",
      code: "not_found",
      requestId: "req-1",
    });
    const page = await surface.fetch("GET", "/problems/not_found");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<h1>Not found</h1>");
    expect((await surface.fetch("GET", "/problems/nothing")).status).toBe(404);
    const list = await (await surface.fetch("GET", "/problems")).text();
    for (const code of errorTable.keys()) expect(list).toContain(`problems/${code}"`);
  });

  it("[API1] titles are written as ordinary words", () => {
    const titles = (["malformed_json", "unknown_api_version", "url_not_https", "key_revoked"] as const).map(
      (code) => errorTable.get(code)?.title,
    );
    expect(titles).toEqual(["Malformed JSON", "Unknown API version", "URL not HTTPS", "Key revoked"]);
  });

  it("[ST90] an operation that meets a conflict at every attempt answers 503 with Retry-After", async () => {
    const timing = { sleep: async () => {}, random: Math.random, nowMs: () => 0 };
    surface.on("articles.get", () => retryOnConflict("test.surface", async () => conflict, timing));
    const response = await surface.fetch("GET", `/articles/${articleId}`, { headers: credentials.session });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await problemOf(response)).toMatchObject({ code: "unavailable", retryAfter: 1 });
  });

  it("[API1] every code of the table is returned with its status and its facts", async () => {
    for (const row of errorTable.values()) {
      surface.on("articles.get", () => {
        throw new AppError(row.code, "Because.", { currentRevision: 7, allowed: ["a"] });
      });
      const response = await surface.fetch("GET", `/articles/${articleId}`, { headers: credentials.session });
      expect(response.status, row.code).toBe(row.status);
      const problem = await problemOf(response);
      expect(problem).toMatchObject({ code: row.code, title: row.title, detail: "Because.", currentRevision: 7, allowed: ["a"] });
      expect(response.headers.get("www-authenticate") !== null, row.code).toBe(row.status === 401);
      expect(response.headers.get("retry-after") !== null, row.code).toBe(row.status === 503);
    }
  });

  it("[API2] refusals have their fixed order: size, credential, scope, visibility, role, body", async () => {
    const unseen = `/workspaces/${foreignWorkspaceId}/webhooks`;
    const large = `{"url":"${"x".repeat(1024 * 1024)}"}`;
    const post = async (path: string, headers: Record<string, string>, body: string): Promise<ErrorCode> =>
      (await problemOf(await surface.fetch("POST", path, { headers, body }))).code;
    expect(await post(unseen, {}, large)).toBe("payload_too_large");
    expect(await post(unseen, {}, "{")).toBe("unauthenticated");
    expect(await post(unseen, credentials.key("articles:write"), "{")).toBe("insufficient_scope");
    expect(await post(unseen, credentials.key("workspaces:write"), "{")).toBe("not_found");
    expect(await post(webhooks, credentials.role("write"), "{")).toBe("insufficient_role");
    expect(await post(webhooks, credentials.role("admin"), "{")).toBe("unsupported_media_type");
    expect(await post(webhooks, { ...credentials.role("admin"), ...json }, "{")).toBe("malformed_json");
    expect(await post(webhooks, { ...credentials.role("admin"), ...json }, "{}")).toBe("validation_failed");
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API2] if body or query names the resource, only its id is checked before the resource is looked up", async () => {
    const codeOf = async (response: Promise<Response>) => (await problemOf(await response)).code;
    const post = (body: string, headers: Record<string, string> = credentials.session) =>
      codeOf(surface.fetch("POST", "/articles", { headers: { ...headers, ...json }, body }));
    expect(await post(`{"workspaceId":"${foreignWorkspaceId}"`)).toBe("malformed_json");
    for (const body of ["null", "[]", "{}", '{"workspaceId":7}', '{"title":"A title"}']) expect(await post(body)).toBe("validation_failed");
    for (const title of ["", ',"title":"A title"', ',"titel":"A title"', ',"title":7'])
      expect(await post(`{"workspaceId":"${foreignWorkspaceId}"${title}}`), title).toBe("not_found");
    expect(await post(`{"workspaceId":"${workspaceId}","title":7}`)).toBe("validation_failed");
    expect(await post(`{"workspaceId":"${workspaceId}","title":7}`, credentials.role("read"))).toBe("insufficient_permission");
    const get = (query: string) => codeOf(surface.fetch("GET", `/articles?${query}`, { headers: credentials.session }));
    for (const query of ["", "limit=0", "workspaceId=x&workspaceId=y"]) expect(await get(query), query).toBe("validation_failed");
    for (const more of ["", "&limit=0", "&nonsense=1"])
      expect(await get(`workspaceId=${foreignWorkspaceId}${more}`), more).toBe("not_found");
    expect(await get(`workspaceId=${workspaceId}&limit=0`)).toBe("validation_failed");
    expect(await get(`workspaceId=${workspaceId}&nonsense=1`)).toBe("unknown_field");
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API3] a missing, wrong or malformed credential is a 401 that says how to send one", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer nobody" },
      { authorization: "Basic YTpi" },
      { authorization: "Bearer" },
      { "x-api-key": "none" },
    ]) {
      const response = await surface.fetch("GET", "/auth/me", { headers: headers as Record<string, string> });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="svc", error="invalid_token"');
      await problemOf(response);
    }
    const revoked = await surface.fetch("GET", "/auth/me", { headers: { "x-api-key": "revoked" } });
    expect((await problemOf(revoked)).code).toBe("key_revoked");
  });

  it("[API3] two credentials at once are refused", async () => {
    const response = await surface.fetch("GET", "/auth/me", { headers: { ...credentials.session, ...credentials.fullKey } });
    expect((await problemOf(response)).code).toBe("bad_request");
  });

  it("[API4] a key needs every scope; a write scope includes its read scope; a session has every scope", async () => {
    const get = (headers: Record<string, string>) => surface.fetch("GET", `/articles/${articleId}`, { headers });
    const refused = await get(credentials.key("reviews:read", "keys:manage"));
    expect(await problemOf(refused)).toMatchObject({
      code: "insufficient_scope",
      requiredScopes: ["articles:read"],
      missingScopes: ["articles:read"],
    });
    for (const headers of [credentials.key("articles:read"), credentials.key("articles:write"), credentials.fullKey, credentials.session]) {
      expect((await get(headers)).status).toBe(200);
    }
  });

  it("[API4] operations for a person refuse keys, and operations for an operator refuse others", async () => {
    const logout = await surface.fetch("POST", "/auth/logout", { headers: credentials.fullKey });
    expect((await problemOf(logout)).code).toBe("interactive_session_required");
    const accounts = await surface.fetch("GET", "/accounts", { headers: credentials.session });
    expect((await problemOf(accounts)).code).toBe("insufficient_permission");
    expect((await surface.fetch("GET", "/accounts", { headers: credentials.operator })).status).toBe(200);
  });

  it("[API5] a missing, a foreign and a malformed id get the same answer", async () => {
    const shapes = [];
    for (const id of [foreignWorkspaceId, "ws_01KAHX00000V9999999999ABCD", "nonsense", "%00", "ws_%C3%A9"]) {
      const problem = await problemOf(await surface.fetch("GET", `/workspaces/${id}`, { headers: credentials.session }));
      shapes.push({ ...problem, requestId: "", instance: "" });
    }
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
    expect(shapes[0]?.status).toBe(404);
    expect(surface.serve).not.toHaveBeenCalled();
  });

  it("[API6] roles limit: reading is not writing, and writing is not administering", async () => {
    const patch = (role: "read" | "write" | "admin" | "owner", path: string) =>
      surface.fetch("PATCH", path, { headers: { ...credentials.role(role), ...json }, body: "{}" });
    expect((await problemOf(await patch("read", `/articles/${articleId}`))).code).toBe("insufficient_permission");
    expect((await patch("write", `/articles/${articleId}`)).status).toBe(200);
    expect((await problemOf(await patch("write", `/workspaces/${workspaceId}`))).code).toBe("insufficient_role");
    for (const role of ["admin", "owner"] as const) expect((await patch(role, `/workspaces/${workspaceId}`)).status).toBe(200);
  });

  it("[API17] an answer that violates its schema, like any other bug, is a 500 without details", async () => {
    surface.on("articles.get", () => ({ articleId, leaked: "internal field" }));
    const broken = await surface.fetch("GET", `/articles/${articleId}`, { headers: credentials.session });
    expect(broken.status).toBe(500);
    expect(await broken.text()).not.toContain("leaked");
    surface.on("articles.get", () => {
      throw new Error("row 17 of /var/lib/secret");
    });
    const failed = await surface.fetch("GET", `/articles/${articleId}`, { headers: { ...credentials.session, "x-request-id": "req-bug" } });
    const text = await failed.text();
    expect(text).not.toContain("secret");
    expect(JSON.parse(text)).toMatchObject({ code: "internal", requestId: "req-bug" });
    const line = surface.logged.find((logged) => logged.includes("row 17"));
    expect(line).toContain('"requestId":"req-bug"');
    expect(line).toContain("stack");
  });

  it("[API18] a full disk is 507, an unreachable store 503 with Retry-After, and neither is a bug", async () => {
    surface.on("articles.get", () => {
      throw new StorageFullError("no space");
    });
    const full = await surface.fetch("GET", `/articles/${articleId}`, { headers: credentials.session });
    expect((await problemOf(full)).code).toBe("disk_full");
    surface.on("articles.get", () => {
      throw new StorageUnavailableError("gone");
    });
    const gone = await surface.fetch("GET", `/articles/${articleId}`, { headers: credentials.session });
    expect(gone.headers.get("retry-after")).toBe("1");
    expect(await problemOf(gone)).toMatchObject({ code: "unavailable", retryAfter: 1 });
    expect(surface.logged).toEqual([]);
  });

  it("[API24] every request is reported once with operation, status and credential, and no secret", async () => {
    await surface.fetch("GET", `/articles/${articleId}?ticket=sesame`, { headers: { ...credentials.fullKey, "x-request-id": "req-2" } });
    await surface.fetch("GET", "/nowhere", { headers: { "x-api-key": "sesame" } });
    expect(surface.answered).toEqual([
      { operation: "articles.get", status: 422, ms: expect.any(Number), requestId: "req-2", credentialId: "key_full" },
      { operation: "none", status: 404, ms: expect.any(Number), requestId: expect.any(String) },
    ]);
    expect(surface.logged.join()).not.toContain("sesame");
  });
});
