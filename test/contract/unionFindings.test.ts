/** Tests what a refusal says about a value for which the contract allows several forms. */
import { expect, it } from "vitest";
import { Problem } from "../../api/schema/error.ts";
import { credentials, useSurface, workspaceId } from "./surfaceFixture.ts";

const surface = useSurface();
const message = "must be a topic's id (top_…) or its short id (T-<n>)";

async function refusalOf(target: string): Promise<Problem> {
  const response = await surface.fetch("GET", target, { headers: credentials.session });
  expect(response.status).toBe(422);
  return Problem.parse(await response.json());
}

it.each([
  ["articles", `/articles?workspaceId=${workspaceId}&topicId=nope`],
  ["runs", `/workspaces/${workspaceId}/runs?topicId=nope`],
])("[API51] a list of %s refuses a wrong topic reference with the text of the schema", async (_what, target) => {
  const problem = await refusalOf(target);
  expect(problem.errors).toEqual([{ pointer: "/topicId", code: "invalid_union", message }]);
  expect(problem.detail).toBe(`In the query, /topicId ${message}.`);
});

it("[API51] a repeated topic reference is refused with the request to give it once", async () => {
  const { errors } = await refusalOf(`/articles?workspaceId=${workspaceId}&topicId=T-1&topicId=T-2`);
  expect(errors).toMatchObject([{ pointer: "/topicId", message: "must be a string, given once" }]);
});
