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

describe("an article in the trash", () => {
  const surface = useSurface({
    app: {
      access: {
        // Every article is in the trash.
        async resolve(principal, _kind, _id, { deleted }) {
          const role = principal.kind === "session" && principal.sessionId === "ses_role:read" ? "read" : "write";
          return deleted ? { workspaceId, partition: 5, role, deleted: true } : undefined;
        },
      },
    },
  });
  async function statusOf({ spec }: (typeof operations)[number], role: "read" | "write"): Promise<number> {
    const path = spec.path.replace("{articleId}", articleId).replace("{commitId}", commitId);
    const schema = spec.bodies?.["application/json"];
    const query = spec.path.endsWith("/diff") ? "?from=1&to=live" : "";
    const { status } = await surface.fetch(spec.method, path + query, {
      headers: { ...credentials.role(role), ...(schema === undefined ? {} : { "content-type": "application/json" }) },
      ...(schema === undefined ? {} : { body: JSON.stringify(sampleOf(schema as never)) }),
    });
    return status;
  }

  it("[AR33] those who may restore it read it, and only its restore and its deletion change it", async () => {
    const found: string[] = [];
    for (const operation of operations) {
      const status = await statusOf(operation, "write");
      if (status !== 404) found.push(operation.key);
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

  it("[AR33] for readers its text and its commits do not exist", async () => {
    for (const operation of operations.filter(({ spec }) => spec.method === "GET" && spec.resource?.deleted !== true)) {
      expect([operation.key, await statusOf(operation, "read")]).toEqual([operation.key, 404]);
    }
  });
});
