/** Tests the representations of an artifact: its bytes in its own type, as a download, and its metadata. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { StepResult } from "../../server/domain/runs/executors/port.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { createRunRig, noUsage, type RunRig } from "./runRig.ts";

const report = '{"verdict": "ready"}';
const factsType = "application/vnd.svc.artifact+json";

let rig: RunRig;
let runId: string;
beforeEach(async () => {
  const thesis = async (): Promise<StepResult> => ({
    kind: "completed",
    artifacts: [{ kind: "json", contentType: "application/json", text: report }],
    usage: noUsage,
  });
  rig = await createRunRig({ storage: createMemoryStorage(), executors: { thesis } });
  const topicId = await rig.makeTopic();
  ({ runId } = await rig.startStaged(topicId));
  await rig.runIn(runId, "paused_for_approval");
});
afterEach(() => rig.close());

/** Returns status, media type and text of an answer. */
async function read(artifactKey: string, accept?: string): Promise<readonly [number, string | null, string]> {
  const headers = accept === undefined ? {} : { accept };
  const response = await rig.fetch("GET", `/runs/${runId}/artifacts/${artifactKey}`, { headers });
  expect(response.headers.get("vary") ?? "accept").toBe("accept");
  return [response.status, response.headers.get("content-type"), await response.text()];
}

test("[RU91] every artifact is returned as its own bytes for any media type and for its own", async () => {
  const artifacts = [
    ["outline-1", "text/markdown", "# outline 1\n"],
    ["thesis-1", "application/json", report],
  ] as const;
  for (const [key, mediaType, text] of artifacts) {
    const group = mediaType.replace(/[^/]+$/, "*");
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (const accept of [undefined, "*/*", mediaType, group, browser, `image/png, ${mediaType};q=0.1`]) {
      expect(await read(key, accept), `${key} for ${accept}`).toEqual([200, mediaType, text]);
    }
    expect(await read(key, "application/octet-stream")).toEqual([200, "application/octet-stream", text]);
    expect(await read(key, `${mediaType};q=0, */*`)).toEqual([200, "application/octet-stream", text]);
  }
});

test("[RU91] the description of an artifact has its own media type, equal in list and tRPC", async () => {
  const { artifacts } = await rig.expect(200, "GET", `/runs/${runId}/artifacts`);
  expect(artifacts).toHaveLength(3);
  for (const facts of artifacts) {
    const [status, mediaType, text] = await read(facts.artifactKey, factsType);
    expect([status, mediaType]).toEqual([200, factsType]);
    expect(JSON.parse(text)).toEqual(facts);
    expect(await rig.trpc("runs.artifact", { runId, artifactKey: facts.artifactKey })).toEqual({ result: facts });
  }
});

test("[RU91] an Accept that the artifact cannot serve is 406 with the available types", async () => {
  for (const [key, accept, own] of [
    ["thesis-1", "text/markdown", "application/json"],
    ["thesis-1", "text/*, image/png", "application/json"],
    ["outline-1", "application/json", "text/markdown"],
    ["outline-1", "text/html", "text/markdown"],
    ["outline-1", "*/*;q=0", "text/markdown"],
  ] as const) {
    const [status, mediaType, text] = await read(key, accept);
    expect([status, mediaType], `${key} for ${accept}`).toEqual([406, "application/problem+json"]);
    const { code, detail } = JSON.parse(text);
    expect(code).toBe("not_acceptable");
    expect(detail).toContain(own);
  }
});
