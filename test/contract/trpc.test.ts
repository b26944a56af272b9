/** Tests the stock `@trpc/client` with each of its links against the real host. */
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, TRPCClientError } from "@trpc/client";
import { describe, expect, it, vi } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import type { AppRouter } from "../../api/derive/trpc.ts";
import { AppError, errorTable } from "../../api/schema/error.ts";
import { articleId, baseUrl, credentials, foreignWorkspaceId, sampleReply, useSurface, workspaceId } from "./surfaceFixture.ts";

const json = { "content-type": "application/json" };
const links = { httpLink, httpBatchLink, httpBatchStreamLink };
const article = sampleReply(contract.articles.get).body as Record<string, unknown>;

describe("tRPC", () => {
  const surface = useSurface();
  const client = (link: keyof typeof links, options: { headers?: Record<string, string>; methodOverride?: "POST" } = {}) =>
    createTRPCClient<AppRouter>({
      links: [links[link]({ url: `${surface.origin}/trpc`, headers: credentials.session, ...options } as never)],
    });

  for (const link of Object.keys(links) as (keyof typeof links)[]) {
    describe(link, () => {
      it("[API20] queries and mutations answer, with input from path, query and body in one object", async () => {
        surface.on("articles.list", ({ query }) => ({ articles: [{ ...article, title: JSON.stringify(query) }] }));
        surface.on("articles.update", ({ params, body }) => ({ ...article, title: JSON.stringify([params, body]) }));
        const trpc = client(link);
        const [page, changed, me] = await Promise.all([
          trpc.articles.list.query({ workspaceId, limit: 3, deleted: true }),
          trpc.articles.update.mutate({ articleId, title: "New" }),
          trpc.auth.me.query(),
        ]);
        expect(page.articles[0]?.title).toBe(JSON.stringify({ limit: 3, workspaceId, deleted: true }));
        expect(changed.title).toBe(JSON.stringify([{ articleId }, { title: "New" }]));
        expect(me.username).toBe("ana");
      });

      it("[API20] an operation without an answer returns undefined", async () => {
        expect(await client(link).auth.logout.mutate()).toBeUndefined();
      });

      it("[API20] queries may travel as POST", async () => {
        const found = await client(link, { methodOverride: "POST" }).articles.get.query({ articleId });
        expect(found).toEqual(article);
      });

      it("[API20] a refusal reaches the caller with its key, status, path and problem", async () => {
        const refused = await client(link)
          .workspaces.get.query({ workspaceId: foreignWorkspaceId })
          .catch((error: unknown) => error);
        if (!(refused instanceof TRPCClientError)) throw new Error("expected a refusal");
        expect(refused.message).toContain("resource does not exist");
        expect(refused.data).toEqual({
          code: "NOT_FOUND",
          httpStatus: 404,
          path: "workspaces.get",
          problem: expect.objectContaining({
            type: `${baseUrl}/problems/not_found`,
            status: 404,
            code: "not_found",
            requestId: expect.any(String),
          }),
        });
      });

      it("[API20] the calls of a batch succeed and fail independently", async () => {
        const trpc = client(link);
        const outcomes = await Promise.allSettled([
          trpc.auth.me.query(),
          trpc.articles.get.query({ articleId: "art_none" }),
          trpc.articles.list.query({ workspaceId, zz: 1 } as never),
          trpc.articles.get.query({ articleId }),
        ]);
        expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
      });
    });
  }

  it("[API20] every code of the table has its tRPC key and its exact status in the problem", async () => {
    for (const row of errorTable.values()) {
      surface.on("auth.me", () => {
        throw new AppError(row.code, "Because.");
      });
      const error = await client("httpLink")
        .auth.me.query()
        .catch((refused: unknown) => refused);
      if (!(error instanceof TRPCClientError)) throw new Error("expected a refusal");
      expect([error.data.code, error.data.problem.status, error.data.problem.code], row.code).toEqual([row.trpc, row.status, row.code]);
    }
  });

  it("[API20] a batch stream sends each answer as soon as it is ready", async () => {
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    surface.on("articles.get", async () => {
      await slow;
      return article;
    });
    const trpc = client("httpBatchStreamLink");
    const late = trpc.articles.get.query({ articleId });
    // Resolves only if the stream is flushed while the first call still runs.
    expect((await trpc.auth.me.query()).username).toBe("ana");
    const [, early] = [trpc.articles.get.query({ articleId }), trpc.auth.me.query()];
    await early;
    release();
    expect(await late).toEqual(article);
  });

  it("[API20] answers that are not ASCII arrive unchanged", async () => {
    const title = "Zürich 東京 🗼 \u2028 </script>";
    surface.on("articles.get", () => ({ ...article, title }));
    for (const link of Object.keys(links) as (keyof typeof links)[]) {
      expect((await client(link).articles.get.query({ articleId })).title).toBe(title);
    }
  });

  const trpc = (path: string, init: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
    surface.fetch(init.method ?? "GET", `/trpc/${path}`, {
      headers: { ...credentials.session, ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });

  it("[API20] an unknown procedure is NOT_FOUND, a mutation by GET METHOD_NOT_SUPPORTED", async () => {
    for (const path of ["nothing.here", "articles", "__proto__", "constructor.name", "articles.get.more", ""]) {
      const response = await trpc(`${path}?input={}`);
      const body = await response.json();
      expect([response.status, path === "" ? body.code : body.error.data.problem.code], path).toEqual([404, "not_found"]);
    }
    const mutation = await trpc("auth.logout");
    expect([mutation.status, mutation.headers.get("allow"), (await mutation.json()).error.data.code]).toEqual([
      405,
      "POST",
      "METHOD_NOT_SUPPORTED",
    ]);
  });

  it("[API20] a single call answers with the headers of REST, a batch without them", async () => {
    const input = encodeURIComponent(JSON.stringify({ articleId }));
    const single = await trpc(`articles.get?input=${input}`);
    for (const name of ["x-request-id", "x-svc-api-version", "ratelimit", "ratelimit-policy"])
      expect(single.headers.get(name), name).not.toBeNull();
    expect(single.headers.get("content-type")).toBe("application/json");
    const batch = await trpc(`articles.get?batch=1&input=${encodeURIComponent(JSON.stringify({ 0: { articleId } }))}`);
    expect(batch.status).toBe(200);
    for (const name of ["ratelimit", "ratelimit-policy", "etag", "location"]) expect(batch.headers.get(name), name).toBeNull();
  });

  for (const link of Object.keys(links) as (keyof typeof links)[]) {
    if (link === "httpLink") continue;
    it(`[API25] a batch with more calls than allowed fails for each of them, with ${link}`, async () => {
      const trpc = client(link);
      const outcomes = await Promise.allSettled(Array.from({ length: 101 }, () => trpc.auth.me.query()));
      for (const outcome of outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: { message: /at most 100/ } });
      expect(surface.serve).not.toHaveBeenCalled();
    });
  }

  it("[API25] a batch that names thousands of procedures costs one answer, for any caller", async () => {
    const response = await surface.fetch("GET", `/trpc/${",".repeat(50_000)}?batch=1`);
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text.length).toBeLessThan(60_000);
    expect(JSON.parse(text).error.data.problem.code).toBe("bad_request");
  });

  it("[API25] a malformed body of a batch is read once, however many calls it is for", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const response = await trpc(`${Array.from({ length: 50 }, () => "articles.create").join()}?batch=1`, {
      method: "POST",
      headers: json,
      body: '{"0":[1,',
    });
    const parsed = parse.mock.calls.filter(([text]) => text === '{"0":[1,').length;
    parse.mockRestore();
    const answers = (await response.json()) as { error: { data: { problem: { code: string } } } }[];
    expect(answers.map((answer) => answer.error.data.problem.code)).toEqual(Array.from({ length: 50 }, () => "malformed_json"));
    expect(parsed).toBe(1);
  });

  it("[API20] If-Match and Idempotency-Key require exactly one call", async () => {
    for (const header of ["if-match", "idempotency-key"]) {
      const two = await trpc("auth.logout,auth.logout?batch=1", { method: "POST", headers: { ...json, [header]: '"r1"' }, body: "{}" });
      expect(two.status).toBe(400);
      expect((await two.json()).map((answer: { error: { data: { code: string } } }) => answer.error.data.code)).toEqual([
        "BAD_REQUEST",
        "BAD_REQUEST",
      ]);
      expect(surface.serve).not.toHaveBeenCalled();
      const one = await trpc("articles.update?batch=1", {
        method: "POST",
        headers: { ...json, [header]: '"r1"' },
        body: JSON.stringify({ 0: { articleId } }),
      });
      expect(one.status).toBe(200);
      surface.serve.mockClear();
    }
  });

  it("[API21] hostile input is refused as over REST, and no handler is called", async () => {
    const post = async (body: string, headers: Record<string, string> = json) => {
      const response = await trpc("articles.create", { method: "POST", headers, body });
      return [response.status, (await response.json()).error.data.problem.code];
    };
    expect(await post("{")).toEqual([400, "malformed_json"]);
    expect(await post("[]")).toEqual([422, "validation_failed"]);
    expect(await post('"x"')).toEqual([422, "validation_failed"]);
    expect(await post("{}", { "content-type": "text/plain" })).toEqual([415, "unsupported_media_type"]);
    expect(await post(JSON.stringify({ workspaceId, title: "x", zz: 1 }))).toEqual([422, "unknown_field"]);
    expect(await post(JSON.stringify({ workspaceId, title: 1 }))).toEqual([422, "validation_failed"]);
    expect(await post(`{"title":${"[".repeat(1000)}${"]".repeat(1000)}}`)).toEqual([422, "validation_failed"]);
    expect(await post('{"__proto__":1}')).toEqual([422, "validation_failed"]);
    expect(await post(JSON.stringify({ title: "x".repeat(6 * 1024 * 1024) }))).toEqual([413, "payload_too_large"]);
    const get = async (query: string) => {
      const response = await trpc(`articles.get${query}`);
      return [response.status, (await response.json()).error.data.problem.code];
    };
    expect(await get("?input={")).toEqual([400, "malformed_json"]);
    expect(await get("?input=%ff")).toEqual([400, "bad_request"]);
    expect(await get("?input=[]")).toEqual([422, "validation_failed"]);
    expect(await get("")).toEqual([404, "not_found"]);
    const batch = await trpc("auth.me?batch=1&input=3");
    expect([batch.status, (await batch.json())[0].error.data.code]).toEqual([400, "BAD_REQUEST"]);
    const noCredential = await surface.fetch("POST", "/trpc/articles.create", { headers: json, body: "{" });
    expect(noCredential.headers.get("www-authenticate")).toContain("Bearer");
    expect(surface.serve).not.toHaveBeenCalled();
    expect(surface.logged).toEqual([]);
  });
});
