/** Tests identity over the real host: requests pass the wrapper and reach the real services. */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { callRecordTypes } from "../../server/edge/calls/records.ts";
import { baseUrl } from "../support/composeParts.ts";
import { password, recordTypes } from "./identityFixture.ts";
import { identityContract } from "./identityHost.ts";
import { useIdentityServer } from "./identityServerFixture.ts";

describe("identity over REST", () => {
  const server = useIdentityServer();
  const { call, bearer, apiKey, signIn, person } = server;

  it("[AU24] a used link answers 410", async () => {
    const again = await call("POST", "/auth/setup", { body: { token: "first.x", username: "eve", password } });
    expect([again.status, again.body.code]).toEqual([410, "link_expired"]);
  });

  it("[AU1] a wrong password answers 401 with a challenge, like an unknown username", async () => {
    const answers = await Promise.all(
      ["root", "nobody"].map((username) => call("POST", "/auth/token", { body: { grantType: "password", username, password: "wrong" } })),
    );
    for (const { status, headers, body } of answers) {
      expect([status, body.code]).toEqual([401, "unauthenticated"]);
      expect(headers.get("www-authenticate")).toContain("Bearer");
    }
    expect({ ...answers[0]?.body, requestId: "" }).toEqual({ ...answers[1]?.body, requestId: "" });
  });

  it("[AU7] the published key set verifies an access token, and the resource describes itself", async () => {
    const { body, headers } = await call("GET", "/.well-known/jwks.json");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    const { payload } = await jwtVerify(server.rootToken, createLocalJWKSet(body as JSONWebKeySet), {
      issuer: baseUrl,
      audience: "svc",
      typ: "at+jwt",
    });
    expect(payload.sub).toBe("root");
    const metadata = await call("GET", "/.well-known/oauth-protected-resource");
    expect(metadata.body).toMatchObject({
      resource: baseUrl,
      bearer_methods_supported: ["header"],
      scopes_supported: expect.arrayContaining(["keys:manage"]),
    });
  });

  it("[AU12] a key is made, used, revoked, refused on the next request, and deleted", async () => {
    const created = await call("POST", "/api-keys", {
      body: { name: "Build", scopes: ["keys:manage"] },
      headers: bearer(server.rootToken),
    });
    const { keyId, key } = created.body;
    expect([created.status, created.headers.get("location")]).toEqual([201, `/api-keys/${keyId}`]);
    const self = await call("GET", "/api-keys/self", { headers: apiKey(key) });
    expect([self.status, self.body.keyId, self.headers.get("etag")]).toEqual([200, keyId, '"r1"']);
    const active = await call("DELETE", `/api-keys/${keyId}`, { headers: apiKey(key) });
    expect([active.status, active.body.code]).toEqual([409, "key_active"]);
    const stale = await call("PATCH", `/api-keys/${keyId}`, { body: { name: "x" }, headers: { ...apiKey(key), "if-match": '"r9"' } });
    expect([stale.status, stale.body.code]).toEqual([412, "precondition_failed"]);
    const revoked = await call("POST", `/api-keys/${keyId}/revoke`, { headers: apiKey(key) });
    expect([revoked.status, revoked.body.state]).toEqual([200, "revoked"]);
    const refused = await call("GET", "/api-keys/self", { headers: apiKey(key) });
    expect([refused.status, refused.body.code]).toEqual([401, "key_revoked"]);
    expect((await call("DELETE", `/api-keys/${keyId}`, { headers: bearer(server.rootToken) })).status).toBe(204);
    expect((await call("GET", `/api-keys/${keyId}`, { headers: bearer(server.rootToken) })).status).toBe(404);
  });

  it("[AU15] the scopes of a request must have the documented form", async () => {
    const list = ["articles:read"];
    for (const scopes of [
      [],
      null,
      "articles:read",
      { 0: "articles:read", length: 1 },
      ["articles:delete"],
      [...list, null],
      [null],
      [list],
    ]) {
      const { status } = await call("POST", "/api-keys", { body: { name: "x", scopes }, headers: bearer(server.rootToken) });
      expect([scopes, status]).toEqual([scopes, 422]);
    }
    const unknown = await call("POST", "/api-keys", { body: { name: "x", scope: ["articles:read"] }, headers: bearer(server.rootToken) });
    expect([unknown.status, unknown.body.code]).toEqual([422, "unknown_field"]);
  });

  it("[AU14] a key cannot make a key with more rights over REST, and nothing is made", async () => {
    const headers = apiKey(
      (
        await call("POST", "/api-keys", {
          body: { name: "m", scopes: ["keys:manage", "articles:read"] },
          headers: bearer(server.rootToken),
        })
      ).body.key,
    );
    const before = (await call("GET", "/api-keys", { headers })).body.apiKeys.length;
    for (const [body, code] of [
      [{ name: "x" }, "interactive_session_required"],
      [{ name: "x", scopes: ["keys:manage"] }, "interactive_session_required"],
      [{ name: "x", scopes: ["articles:read", "articles:read", "articles:write"] }, "scope_escalation"],
    ] as const) {
      const answer = await call("POST", "/api-keys", { body, headers });
      expect([answer.status, answer.body.code]).toEqual([403, code]);
    }
    expect((await call("GET", "/api-keys", { headers })).body.apiKeys).toHaveLength(before);
    const plain = apiKey((await call("POST", "/api-keys", { body: { name: "x", scopes: ["articles:read"] }, headers })).body.key);
    const lacking = await call("POST", "/api-keys", { body: { name: "x", scopes: ["articles:read"] }, headers: plain });
    expect([lacking.status, lacking.body.code, lacking.body.missingScopes]).toEqual([403, "insufficient_scope", ["keys:manage"]]);
  });

  it("[AU11] an idempotent repeat returns the same secret, which the store alone does not contain", async () => {
    const headers = { ...bearer(server.rootToken), "idempotency-key": "once and only once" };
    const twice = async (path: string, body: object) =>
      [await call("POST", path, { body, headers }), await call("POST", path, { body, headers })] as const;
    const [key, sameKey] = await twice("/api-keys", { name: "once" });
    const [account, sameAccount] = await twice("/accounts", { username: "once" });
    for (const [first, second] of [
      [key, sameKey],
      [account, sameAccount],
    ] as const) {
      expect(first.status).toBe(201);
      expect(second.body).toEqual(first.body);
      expect(second.headers.get("idempotency-replayed")).toBe("true");
    }
    const { apiKeys } = (await call("GET", "/api-keys", { headers: bearer(server.rootToken) })).body;
    expect(apiKeys.filter((found: { name: string }) => found.name === "once")).toHaveLength(1);
    const kept: string[] = [];
    for (const type of [...recordTypes, ...callRecordTypes]) {
      for (let partition = 0; partition < 64; partition += 1) {
        for await (const stored of server.identity.storage.records.scan(type as never, partition)) kept.push(JSON.stringify(stored));
      }
    }
    const text = kept.join("\n");
    expect(text).toContain('"sealed":true');
    for (const secret of [key.body.key, account.body.setupUrl.split(/[.&]/).at(-2)]) {
      expect(secret.length).toBeGreaterThan(40);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString("hex"));
    }
  });

  it("[AU25] operators make accounts, their link sets a password once, and others may not", async () => {
    const created = await call("POST", "/accounts", { body: { username: "Linked", displayName: "L" }, headers: bearer(server.rootToken) });
    expect([created.status, created.body.username]).toEqual([201, "linked"]);
    const token = new URLSearchParams(new URL(created.body.setupUrl).hash.slice(1)).get("token");
    expect((await call("POST", "/auth/setup", { body: { token, password } })).status).toBe(201);
    expect((await call("POST", "/auth/setup", { body: { token, password } })).status).toBe(410);
    const linked = bearer((await signIn("linked")).accessToken);
    expect((await call("GET", "/auth/me", { headers: linked })).body).toEqual({
      username: "linked",
      displayName: "L",
      operator: false,
      credential: "session",
      workspaces: 1,
    });
    const forbidden = await call("GET", "/accounts", { headers: linked });
    expect([forbidden.status, forbidden.body.code]).toEqual([403, "insufficient_permission"]);
    const twice = await call("POST", "/accounts", { body: { username: "linked" }, headers: bearer(server.rootToken) });
    expect([twice.status, twice.body.code]).toEqual([409, "already_exists"]);
  });

  it("[WS5] members are added, changed, refused and removed over REST", async () => {
    const [owner, other] = [await person("owner"), await person("other")];
    const { workspaceId } = (await call("POST", "/workspaces", { body: { name: "T", type: "team" }, headers: owner })).body;
    const path = `/workspaces/${workspaceId}/members`;
    const added = await call("POST", path, { body: { username: "OTHER", role: "member" }, headers: owner });
    expect([added.status, added.headers.get("location"), added.body]).toEqual([
      201,
      `${path}/other`,
      { username: "other", role: "member", type: "direct" },
    ]);
    for (const role of ["owner", "", null]) {
      expect((await call("PATCH", `${path}/other`, { body: { role }, headers: owner })).status).toBe(422);
      expect((await call("POST", path, { body: { username: "root", role }, headers: owner })).status).toBe(422);
    }
    expect((await call("PATCH", `${path}/other`, { body: { role: "admin" }, headers: owner })).body.role).toBe("admin");
    expect((await call("DELETE", `${path}/owner`, { headers: other })).body.code).toBe("last_owner");
    expect((await call("GET", `/workspaces/${workspaceId}/collaborators`, { headers: other })).body.collaborators).toHaveLength(2);
    const { etag } = Object.fromEntries((await call("GET", `/workspaces/${workspaceId}`, { headers: other })).headers);
    const patched = await call("PATCH", `/workspaces/${workspaceId}`, {
      body: { settings: { a: 1 } },
      headers: { ...other, "if-match": etag ?? "" },
    });
    expect([patched.status, patched.body]).toEqual([200, { message: "Workspace updated." }]);
    expect((await call("DELETE", `${path}/other`, { headers: other })).status).toBe(204);
    expect((await call("GET", `/workspaces/${workspaceId}`, { headers: other })).status).toBe(404);
  });

  it("[WS2] answers for a foreign and a missing workspace are alike, also for an operator", async () => {
    const [owner, stranger] = [await person("keeper"), await person("stranger")];
    const { workspaceId } = (await call("POST", "/workspaces", { body: { name: "T", type: "team" }, headers: owner })).body;
    const missing = `${workspaceId.slice(0, -1)}${workspaceId.endsWith("0") ? "1" : "0"}`;
    for (const [method, rest, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { name: "x" }],
      ["GET", "/collaborators", undefined],
      ["POST", "/members", { username: "stranger", role: "admin" }],
      ["PATCH", "/members/keeper", { role: "member" }],
      ["DELETE", "/members/keeper", undefined],
    ] as const) {
      for (const headers of [stranger, bearer(server.rootToken)]) {
        const answers = await Promise.all([workspaceId, missing].map((id) => call(method, `/workspaces/${id}${rest}`, { body, headers })));
        expect(answers.map(({ status }) => status)).toEqual([404, 404]);
        const bodies = answers.map(({ body: problem }) => ({ ...problem, requestId: "", instance: "" }));
        expect(bodies[1]).toEqual(bodies[0]);
      }
    }
  });

  it("[AU33] hostile input on every route is refused with a 4xx status and changes nothing", async () => {
    const headers = await person("victim");
    const { workspaceId } = (await call("GET", "/workspaces", { headers })).body.workspaces[0];
    const { keyId } = (await call("POST", "/api-keys", { body: { name: "k" }, headers })).body;
    const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
    const raws = [
      "",
      "{",
      "null",
      "[]",
      '"x"',
      "7",
      `{"name":${deep}}`,
      '{"__proto__":{"operator":true}}',
      '{"name":"\\ud800"}',
      "\u0000",
      '{"extra":1}',
    ];
    const fills: readonly [RegExp, readonly string[]][] = [
      [/\{workspaceId\}/, [workspaceId, "x", "ws_", "%00", "..%2f", "ws_ZZZZZZZZZZZZZZZZZZZZZZZZZZ", "%F0%9F%92%A9"]],
      [/\{keyId\}/, [keyId, "x", "key_", "%00", "key_ZZZZZZZZZZZZZZZZZZZZZZZZZZ"]],
      [/\{username\}/, ["victim", "nobody", "%00", "..", "__proto__", "constructor"]],
    ];
    const credentials = [
      headers,
      bearer(server.rootToken),
      apiKey("svc_x"),
      bearer("a.b.c"),
      bearer(""),
      {},
      { ...headers, ...apiKey("x") },
    ];
    let probes = 0;
    for (const operations of Object.values(identityContract)) {
      for (const spec of Object.values(operations) as OperationSpec[]) {
        if (spec.path === "/auth/logout") continue;
        const paths = fills.reduce<string[]>(
          (found, [name, values]) => found.flatMap((path) => (name.test(path) ? values.map((value) => path.replace(name, value)) : [path])),
          [spec.path],
        );
        for (const path of paths) {
          for (const [at, credential] of credentials.entries()) {
            const raw = raws[(probes + at) % raws.length] as string;
            // This is the only well-formed request of the list, because revoking has no body.
            if (raw === "" && spec.bodies === undefined) continue;
            const answer = await call(spec.method, path, {
              headers: credential,
              ...(spec.method === "GET" || spec.method === "DELETE" ? {} : { raw }),
            });
            expect([spec.method, path, raw, answer.status < 500]).toEqual([spec.method, path, raw, true]);
            if (answer.status >= 400)
              expect(answer.body).toMatchObject({ status: answer.status, code: expect.any(String), requestId: expect.any(String) });
            probes += 1;
          }
        }
      }
    }
    expect(probes).toBeGreaterThan(300);
    expect(({} as { operator?: boolean }).operator).toBeUndefined();
    expect((await call("GET", "/auth/me", { headers })).body).toEqual({
      username: "victim",
      operator: false,
      credential: "session",
      workspaces: 1,
    });
    expect((await call("GET", `/workspaces/${workspaceId}`, { headers })).body).toMatchObject({
      name: "victim",
      members: [{ username: "victim", role: "owner" }],
    });
    expect((await call("GET", "/api-keys", { headers })).body.apiKeys).toMatchObject([{ keyId, name: "k" }]);
    expect(server.logged.filter((line) => line.includes("failed on a bug"))).toEqual([]);
  });
});
