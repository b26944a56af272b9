/** Tests who reaches an article in the trash, over the real host with replaced services. */
import { describe, expect, it } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import type { OperationSpec } from "../../api/contract/operation.ts";
import { sampleOf } from "./schemaSample.ts";
import { articleId, credentials, useSurface, workspaceId } from "./surfaceFixture.ts";

const commitId = "cmt_01KAHX0000050123456789ABCD";
const operations = Object.entries(contract).flatMap(([resource, group]) =>
  Object.entries(group as Record<string, OperationSpec>)
    .filter(([, { resource: reference }]) => reference?.kind === "article" && reference.in === "params")
    .map(([name, spec]) => ({ key: `${resource}.${name}`, spec })),
);
const toPath = ({ path }: OperationSpec) => path.replace("{articleId}", articleId).replace("{commitId}", commitId);

describe("an article in the trash", () => {
  const surface = useSurface({
    app: {
      access: {
        // Every article is in the trash.
        async resolve(principal, _kind, _id, { deleted }) {
          const role = principal.kind === "session" && principal.sessionId === "ses_role:read" ? "read" : "write";
          return deleted ? { workspaceId, partition: 5, role, trashedArticleId: articleId } : undefined;
        },
      },
    },
  });
  async function answerTo({ spec }: (typeof operations)[number], role: "read" | "write") {
    const path = toPath(spec);
    const schema = spec.bodies?.["application/json"];
    const query = spec.path.endsWith("/diff") ? "?from=1&to=live" : "";
    return surface.fetch(spec.method, path + query, {
      headers: { ...credentials.role(role), ...(schema === undefined ? {} : { "content-type": "application/json" }) },
      ...(schema === undefined ? {} : { body: JSON.stringify(sampleOf(schema as never)) }),
    });
  }

  const refusedWith = {
    detail: `The article ${articleId} is in the trash. Restore it with POST /articles/${articleId}/undelete, then repeat the request.`,
    currentState: "article_deleted",
    allowed: ["articles.undelete"],
  };

  it("[AR33] [AR41] callers who may restore it read it; other requests are refused with the way to restore it", async () => {
    const found: string[] = [];
    for (const operation of operations) {
      const answer = await answerTo(operation, "write");
      if (answer.status < 400) found.push(operation.key);
      else {
        const isRead = operation.spec.method === "GET";
        const expected = isRead ? { status: 404, code: "not_found" } : { status: 409, code: "invalid_transition" };
        expect(await answer.json(), operation.key).toMatchObject({ ...expected, ...refusedWith });
      }
    }
    expect(found.sort()).toEqual([
      "articles.delete",
      "articles.get",
      "articles.undelete",
      "commits.blame",
      "commits.content",
      "commits.diff",
      "commits.get",
      "commits.list",
      "content.get",
    ]);
  });

  it("[AR33] [AR41] for readers it does not differ from a missing article", async () => {
    for (const operation of operations.filter(({ spec }) => spec.resource?.deleted !== true)) {
      const answer = await answerTo(operation, "read");
      expect(await answer.json(), operation.key).toEqual({
        type: expect.stringMatching(/not_found$/),
        title: "Not found",
        status: 404,
        detail: "The resource does not exist, or it is not visible to this credential.",
        instance: toPath(operation.spec),
        code: "not_found",
        requestId: expect.any(String),
      });
    }
  });

  it("[AR41] a change is refused only after its body was checked, over tRPC as over REST", async () => {
    const headers = { ...credentials.role("write"), "content-type": "application/json" };
    const edit = (body: object) => surface.fetch("PATCH", `/articles/${articleId}/content`, { headers, body: JSON.stringify(body) });
    expect((await edit({ mode: "append", content: 1 })).status).toBe(422);
    const answer = await surface.fetch("POST", "/trpc/content.edit", {
      headers,
      body: JSON.stringify({ articleId, mode: "append", content: "late" }),
    });
    expect((await answer.json()).error.data.problem).toMatchObject({ status: 409, code: "invalid_transition", ...refusedWith });
  });
});
