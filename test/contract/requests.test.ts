/** Tests what every answer has and every request may use: tracing, version, entity tags, methods and origins. */
import { describe, expect, it } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import type { Call } from "../../server/domain/call/call.ts";
import { articleEtag, liveEtag, recordEtag, requireMatch } from "../../server/domain/call/precondition.ts";
import { rawConnection } from "./rawHttp.ts";
import { articleId, credentials, Reply, sampleReply, useSurface, workspaceId } from "./surfaceFixture.ts";

const json = { "content-type": "application/json" };
const article = sampleReply(contract.articles.get).body;

describe("requests and answers", () => {
  const surface = useSurface({
    app: {
      corsOrigins: ["https://app.example"],
      proxyHops: 1,
      routes: [
        {
          method: "GET",
          path: "/p/{slug}",
          publicCors: true,
          handle: (_, { slug }) => ({ status: 200, headers: { "content-type": "text/html" }, body: `<p>${slug}</p>` }),
        },
        {
          method: "GET",
          path: "/broken",
          handle() {
            throw new Error("route bug");
          },
        },
      ],
    },
  });
  const get = (headers: Record<string, string> = {}, path = `/articles/${articleId}`) =>
    surface.fetch("GET", path, { headers: { ...credentials.session, ...headers } });

  it("[API11] a valid x-request-id is echoed, and a missing or invalid one is replaced", async () => {
    expect((await get({ "x-request-id": "trace.42:a/b" })).headers.get("x-request-id")).toBe("trace.42:a/b");
    const ids = new Set<string | null>();
    for (const headers of [{}, { "x-request-id": "has space" }, { "x-request-id": "x".repeat(129) }, { "x-request-id": '"><script>' }]) {
      const id = (await get(headers as Record<string, string>)).headers.get("x-request-id");
      expect(id).toMatch(/^[\w-]{12}\.\d+$/);
      ids.add(id);
    }
    expect(ids.size).toBe(4);
  });

  it("[API11] a valid traceparent reaches the service, an invalid one does not", async () => {
    const seen: (string | undefined)[] = [];
    surface.on("articles.get", (_, call: Call) => {
      seen.push(call.traceparent);
      return article;
    });
    const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (const traceparent of [valid, "00-00000000000000000000000000000000-b7ad6b7169203331-01", "nonsense"]) await get({ traceparent });
    expect(seen).toEqual([valid, undefined, undefined]);
  });

  it("[API11] answers name the API version, and a request for an unknown version is refused", async () => {
    for (const headers of [{}, { "x-svc-api-version": "2026-11-01" }]) {
      const response = await get(headers as Record<string, string>);
      expect([response.status, response.headers.get("x-svc-api-version")]).toEqual([200, "2026-11-01"]);
    }
    const unknown = await get({ "x-svc-api-version": "2020-01-01" });
    expect([unknown.status, (await unknown.json()).code, unknown.headers.get("x-svc-api-version")]).toEqual([
      400,
      "unknown_api_version",
      "2026-11-01",
    ]);
  });

  it("[API11] shared caches keep no answers", async () => {
    expect((await get()).headers.get("cache-control")).toBe("no-store");
  });

  it("[API11] behind a trusted proxy, the client's address is the one that the proxy saw", async () => {
    const seen: string[] = [];
    surface.on("articles.get", (_, call: Call) => {
      seen.push(call.remoteAddress);
      return article;
    });
    for (const forwarded of ["203.0.113.7", "6.6.6.6, 203.0.113.8", "not an address", ""]) await get({ "x-forwarded-for": forwarded });
    expect(seen).toEqual(["203.0.113.7", "203.0.113.8", "127.0.0.1", "127.0.0.1"]);
  });

  it("[API13] If-None-Match with the tag of the answer is 304 without a body", async () => {
    surface.on("articles.get", () => new Reply({ status: 200, headers: { etag: liveEtag(9, 3) }, body: article }));
    for (const tag of ['"r9-3"', 'W/"r9-3"', '"x", "r9-3"', "*"]) {
      const response = await get({ "if-none-match": tag });
      expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", '"r9-3"']);
    }
    expect((await get({ "if-none-match": '"r8-3"' })).status).toBe(200);
  });

  it("[API13] If-Match compares the record part of a tag of the resource's own form, so typing does not fail a rename", async () => {
    surface.on("articles.update", (_, call: Call) => {
      requireMatch(call, 3, "live");
      return article;
    });
    const patch = (tag?: string) =>
      surface.fetch("PATCH", `/articles/${articleId}`, {
        headers: { ...credentials.session, ...json, ...(tag === undefined ? {} : { "if-match": tag }) },
        body: "{}",
      });
    for (const tag of [undefined, "*", articleEtag(9, 8, 3), articleEtag(9, undefined, 3), liveEtag(10, 3), '"r1", "r9-3"'])
      expect((await patch(tag)).status, tag).toBe(200);
    // The tag of the text has one part.
    for (const tag of [recordEtag(3), liveEtag(3, 2), articleEtag(3, 3, 2), 'W/"r9-3"', '"other"']) {
      const response = await patch(tag);
      expect([response.status, (await response.json()).code], tag).toEqual([412, "precondition_failed"]);
    }
    for (const tag of ["r3", '"r3', "", ", ,"]) expect((await patch(tag)).status, tag).toBe(400);
  });

  it("[API13] reading ignores If-Match", async () => {
    expect((await get({ "if-match": "nonsense" })).status).toBe(200);
  });

  it("[API13] a change of a resource without a tag is refused when If-Match names one", async () => {
    const path = `/workspaces/${workspaceId}/members/bob`;
    for (const [method, body] of [["PATCH", '{"role":"member"}'] as const, ["DELETE"] as const]) {
      for (const [tag, status] of [["*", method === "PATCH" ? 200 : 204] as const, ['"r3"', 412] as const, ["r3", 400] as const]) {
        surface.serve.mockClear();
        const headers = { ...credentials.session, ...json, "if-match": tag };
        const response = await surface.fetch(method, path, body === undefined ? { headers } : { headers, body });
        expect(response.status, `${method} ${tag}`).toBe(status);
        expect(surface.serve).toHaveBeenCalledTimes(status < 300 ? 1 : 0);
      }
    }
  });

  it("[API19] an unknown path is 404, a known one with another method 405 with Allow, both as problems", async () => {
    const unknown = await surface.fetch("GET", "/nowhere");
    expect([unknown.status, (await unknown.json()).code]).toEqual([404, "not_found"]);
    for (const method of ["PUT", "DELETE", "BREW"]) {
      const response = await surface.fetch(method, "/articles");
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS, POST"]);
      expect((await response.json()).code).toBe("method_not_allowed");
    }
    const malformed = await surface.fetch("GET", "/articles/%ff");
    expect([malformed.status, (await malformed.json()).code]).toEqual([400, "bad_request"]);
  });

  it("[API19] the refusal of an unknown path or procedure names it and the address of the list of operations", async () => {
    const post = (path: string) => surface.fetch("POST", path, { headers: { "content-type": "application/json" }, body: "{}" });
    const { detail } = await (await post("/artcles?limit=3")).json();
    const list = /^There is no operation POST \/artcles\. (http\S+) lists all operations\.$/.exec(detail)?.[1];
    expect(Object.keys((await (await surface.fetch("GET", new URL(list ?? "").pathname)).json()).paths)).toContain("/articles");
    expect((await (await surface.fetch("GET", `/${"x".repeat(9000)}`)).json()).detail.length).toBeLessThan(400);
    const answer = await (await post("/trpc/articles.gett")).json();
    expect(answer.error.data.problem.detail).toBe(
      `There is no procedure 'articles.gett'. ${list} names each procedure by its operationId.`,
    );
  });

  it("[API19] HEAD answers like GET without the body", async () => {
    const response = await surface.fetch("HEAD", `/articles/${articleId}`, { headers: credentials.session });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
      200,
      String(JSON.stringify(article).length),
      "",
    ]);
    expect((await surface.fetch("HEAD", `/articles/${articleId}`)).status).toBe(401);
  });

  it("[API19] OPTIONS lists the methods, and a preflight is answered only for configured origins", async () => {
    const preflight = (origin: string) =>
      surface.fetch("OPTIONS", "/articles", {
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-api-key" },
      });
    const allowed = await preflight("https://app.example");
    expect([allowed.status, allowed.headers.get("access-control-allow-origin"), allowed.headers.get("vary")]).toEqual([
      204,
      "https://app.example",
      "origin",
    ]);
    expect(allowed.headers.get("access-control-allow-methods")).toContain("POST");
    expect(allowed.headers.get("access-control-allow-headers")).toContain("x-api-key");
    expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
    const refused = await preflight("https://evil.example");
    expect(refused.headers.get("access-control-allow-origin")).toBeNull();
    expect(refused.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect((await surface.fetch("OPTIONS", "/nowhere")).status).toBe(404);
  });

  it("[API19] configured origins may read answers, public pages are open to all, refusals included", async () => {
    const origin = async (path: string, sent: string) => (await get({ origin: sent }, path)).headers.get("access-control-allow-origin");
    expect(await origin("/auth/me", "https://app.example")).toBe("https://app.example");
    expect(await origin("/auth/me?zz=1", "https://app.example")).toBe("https://app.example");
    expect(await origin("/nowhere", "https://app.example")).toBe("https://app.example");
    expect(await origin("/auth/me", "https://evil.example")).toBeNull();
    expect(await origin("/p/a-page", "https://anyone.example")).toBe("*");
    expect(await origin("/openapi.json", "https://anyone.example")).toBe("*");
  });

  it("[API19] routes that are no operation receive their parameters, and their bugs are problems too", async () => {
    const page = await surface.fetch("GET", "/p/caf%C3%A9");
    expect([page.status, await page.text()]).toEqual([200, "<p>café</p>"]);
    const broken = await surface.fetch("GET", "/broken");
    expect([broken.status, (await broken.json()).code]).toEqual([500, "internal"]);
    expect(surface.answered.map(({ operation, status }) => [operation, status])).toEqual([
      ["GET /p/{slug}", 200],
      ["GET /broken", 500],
    ]);
  });

  it("[API10] text is converted exactly as its schema says", async () => {
    const seen: unknown[] = [];
    surface.on("articles.list", ({ query }) => {
      seen.push(query);
      return { articles: [] };
    });
    const list = (query: string) => get({}, `/articles?workspaceId=${workspaceId}${query}`);
    expect((await list("&limit=7&deleted=false&updatedSince=1.5e3&q=a+b%20c%2B%C3%A9&&")).status).toBe(200);
    expect(seen).toEqual([{ workspaceId, limit: 7, deleted: false, updatedSince: 1500, q: "a b c+é" }]);
    for (const wrong of [
      "&limit=",
      "&limit=7.5",
      "&limit=0x7",
      "&limit=07",
      "&limit=1&limit=2",
      "&deleted=1",
      "&deleted=",
      "&deleted=True",
      "&updatedSince=Infinity",
    ]) {
      const response = await list(wrong);
      expect([response.status, (await response.json()).code], wrong).toEqual([422, "validation_failed"]);
    }
    expect((await get({}, "/articles?workspaceId=a&workspaceId=b")).status).toBe(422);
  });

  it("[API10] a parameter that may be a number or a word is read as the right one", async () => {
    const seen: unknown[] = [];
    surface.on("commits.diff", ({ query }) => {
      seen.push(query);
      return sampleReply(contract.commits.diff).body;
    });
    expect((await get({}, `/articles/${articleId}/diff?from=7&to=live`)).status).toBe(200);
    expect(seen).toEqual([{ from: 7, to: "live" }]);
    expect((await get({}, `/articles/${articleId}/diff?from=7.5&to=now`)).status).toBe(422);
  });

  it("[API10] bytes in a query that are not percent-encoding are refused", async () => {
    const client = await rawConnection(surface.host.port);
    client.write(Buffer.from(`GET /articles?q=caf\xe9 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer session\r\n\r\n`, "latin1"));
    expect((await client.response()).status).toBe(400);
    client.destroy();
  });

  it("[API8] a negotiated answer follows Accept, and 406 lists the available types", async () => {
    const accepts: string[] = [];
    surface.on("content.get", ({ accept }) => {
      accepts.push(accept[0] ?? "");
      return sampleReply(contract.content.get).body;
    });
    const read = (accept: string) => get({ accept }, `/articles/${articleId}/content`);
    for (const accept of [
      "*/*",
      "text/html, */*;q=0.1",
      "text/plain;q=0.5, text/css",
      "text/*",
      "application/octet-stream;q=0.9, application/json;q=0.5",
      "text/markdown;q=0, application/*",
    ]) {
      await read(accept);
    }
    expect(accepts).toEqual([
      "application/json",
      "text/html",
      "text/plain",
      "text/markdown",
      "application/octet-stream",
      "application/json",
    ]);
    const refused = await read("image/png");
    expect([refused.status, (await refused.json()).detail]).toEqual([406, expect.stringContaining("text/markdown")]);
  });
});
