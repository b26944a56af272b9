/** Tests runs with a step that this server cannot execute: the run never reports a success without saying so. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { z } from "zod";
import { ArticleScorecard, ClaimsLedgerSummary, CodeVerificationReport, SerpContentBenchmarkReport } from "../../api/schema/report.ts";
import { TopicSeoReviewSnapshot } from "../../api/schema/seo.ts";
import { workflowStepTypes } from "../../api/schema/workflow.ts";
import { createExecutors, type ExecutorService } from "../../server/domain/runs/executors/executors.ts";
import { unavailableReports } from "../../server/domain/runs/executors/unavailableReports.ts";
import { builtInWorkflows } from "../../server/domain/runs/workflows/builtInWorkflows.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { createManualTime } from "../support/manualTime.ts";
import { createEngineNode, readRun, toInput } from "./runEngineFixture.ts";
import { createRunRig, noUsage, type RunRig, workspaceId } from "./runRig.ts";

const reports: Readonly<Record<string, readonly [kind: string, schema: z.ZodType]>> = {
  serp_benchmark: ["benchmark", SerpContentBenchmarkReport],
  claims_audit: ["claims", ClaimsLedgerSummary],
  article_scorecard: ["scorecard", ArticleScorecard],
  code_verification: ["code_report", CodeVerificationReport],
  seo_review: ["json", TopicSeoReviewSnapshot],
};
/** First step of each workflow that this server cannot execute. The other workflows complete. */
const failsAt: Readonly<Record<string, string>> = {
  full_editorial_article: "citation_enrichment",
  topic_research: "topic_research",
  deep_topic_research: "deep_topic_research",
};

interface Step {
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly artifactKeys: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

describe("with the executors of the product", () => {
  let rig: RunRig;
  let service: ExecutorService;
  beforeEach(async () => {
    service = createExecutors({});
    rig = await createRunRig({ storage: createMemoryStorage(), executors: service.executors });
  });
  afterEach(async () => {
    await rig.close();
    await service.close();
  });

  async function runToEnd(workflowId: string, target: object) {
    const { runId } = await rig.expect(202, "POST", `/workflows/${workflowId}/runs`, { workspaceId, ...target });
    const { approvals } = await rig.expect(200, "GET", `/runs/${runId}/approvals`);
    for (const { approvalId } of approvals) {
      await rig.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve" });
    }
    return rig.runIn(runId, "completed", "failed");
  }

  async function expectVisible(runId: string, step: Step): Promise<void> {
    const { events } = await rig.expect(200, "GET", `/runs/${runId}/events`);
    const ended = events.find(
      ({ event, data }: { event: string; data: { stepName: string } }) => event === "agent.step_completed" && data.stepName === step.name,
    );
    expect(ended.data, step.name).toMatchObject({ status: step.status, ...(step.error === undefined ? {} : { error: step.error }) });
    if (step.status !== "completed") return;
    expect(step.artifactKeys, step.name).toHaveLength(1);
    const [kind, schema] = reports[step.type] ?? [];
    if (schema === undefined) return expect(step.error, step.name).toBeUndefined();
    const facts = await rig.request("GET", `/runs/${runId}/artifacts/${step.artifactKeys[0]}`, undefined, {
      headers: { accept: "application/vnd.svc.artifact+json" },
    });
    expect(facts.body).toMatchObject({ kind, contentType: "application/json" });
    const report = await rig.expect(200, "GET", `/runs/${runId}/artifacts/${step.artifactKeys[0]}`);
    expect(schema.safeParse(report).error, step.name).toBeUndefined();
    if (report.status === "unavailable") expect(step.error).toMatchObject({ code: "provider_unavailable", message: expect.any(String) });
  }

  test.each(builtInWorkflows.map(({ id }) => id))("[RU92] no step of %s does nothing in a run that completes", async (workflowId) => {
    const ofIdeas = workflowId.endsWith("topic_research");
    const target = ofIdeas ? {} : { topicId: await rig.makeTopic() };
    // A review needs an article.
    if (workflowId === "seo_review") await runToEnd("draft", target);
    const run = await runToEnd(workflowId, target);
    const steps: readonly Step[] = run.steps;
    const failing = failsAt[workflowId];
    if (failing === undefined) {
      expect(run.status).toBe("completed");
      expect(steps.map(({ status }) => status)).toEqual(steps.map(() => "completed"));
    } else {
      expect(run).toMatchObject({ status: "failed", failure: { code: "provider_unavailable", stepName: failing, retryable: false } });
      expect(run.failure.message).toContain(failing);
      expect(steps.find(({ name }) => name === failing)).toMatchObject({ status: "failed", error: { code: "provider_unavailable" } });
    }
    for (const step of steps.filter(({ status }) => status !== "pending")) await expectVisible(run.runId, step);
  });

  test("[RU92] a search review without a topic ends with a report that nothing was checked, and why", async () => {
    const { createCall } = await import("./articleFixture.ts");
    const call = createCall(rig.storage, workspaceId, 5, { username: "ana" });
    const { article } = await rig.node.articles.create({ workspaceId, title: "Alone" }, call);
    const run = await runToEnd("seo_review", { articleId: article.articleId });
    const error = { code: "not_ready", message: expect.stringContaining("no topic") };
    expect(run).toMatchObject({ status: "completed", steps: [{ status: "completed", error }] });
    await expectVisible(run.runId, run.steps[0]);
    const report = await rig.expect(200, "GET", `/runs/${run.runId}/artifacts/seo_review-1`);
    expect(report).toMatchObject({ checks: { intentAlignment: "not_checked" }, findings: [error] });
  });
});

/** Reads the second and third column of the table in docs/runs.md for each step type. */
function readTable(): ReadonlyMap<string, readonly string[]> {
  const rows = readFileSync("docs/runs.md", "utf8").matchAll(/^\| `([a-z_]+)` \| (.+?) \| (.+?) \|$/gm);
  return new Map([...rows].map(([, type = "", today = "", without = ""]) => [type, [today, without]]));
}

describe("unavailable reports", () => {
  test.each(Object.entries(unavailableReports))(
    "[EX20] %s has its documented shape, and every value says that nothing was found",
    async (type, report) => {
      const step = { name: "the step", type } as never;
      const texts = { "content.md": "# Kites", "outline.md": "", "research.md": "" };
      const result = await report?.({ run: { runId: "run_1" }, step, texts, now: () => 1_763_683_200_000 } as never);
      if (result?.kind !== "completed") throw new Error("no report was made");
      const [kind, schema] = reports[type] ?? [];
      const [artifact] = result.artifacts;
      expect(artifact).toMatchObject({ kind, contentType: "application/json" });
      const made = JSON.parse(artifact?.text ?? "");
      expect(schema?.safeParse(made).error).toBeUndefined();
      const hash = createHash("sha256").update("# Kites").digest("hex");
      const known = [hash, "run_1", "the step", "2025-11-21T00:00:00.000Z", result.unavailable?.message, "unavailable", "none"];
      for (const [name, value] of Object.entries(made)) {
        if (["schemaVersion", "scoreMax", "reviewedAt", "checks", "findings"].includes(name)) continue;
        if (typeof value === "string") expect(known, name).toContain(value);
        else if (typeof value === "number") expect(value, name).toBe(0);
        else
          expect(
            Object.values(value ?? {}).filter((one) => one !== 0),
            name,
          ).toEqual([]);
      }
      if (type !== "claims_audit") expect(artifact?.text).toContain(result.unavailable?.message);
    },
  );
});

describe("each step type", () => {
  const table = readTable();
  const service = createExecutors({});
  afterAll(() => service.close());

  test("[RU93] docs/runs.md says of every step type what this server does, with and without executor", () => {
    expect([...table.keys()].filter((type) => (workflowStepTypes as readonly string[]).includes(type)).toSorted()).toEqual(
      workflowStepTypes.toSorted(),
    );
    for (const type of workflowStepTypes) {
      const hasExecutor = service.executors[type] !== undefined;
      expect(table.get(type)?.[0]?.startsWith("nothing"), type).toBe(!hasExecutor);
    }
  });

  test.each(workflowStepTypes)("[RU93] a run that reaches a step of type %s without executor ends as documented", async (type) => {
    const time = createManualTime();
    const storage = time.watch(createMemoryStorage({ now: time.now }));
    const done = async () => ({ kind: "completed", artifacts: [], usage: noUsage }) as const;
    const last = type === "custom" ? "review" : "custom";
    const node = createEngineNode(storage, time, { [last]: done });
    const runId = node.ids.next("run", partitionOfId(workspaceId));
    const steps = [
      { name: "tried", type },
      { name: "last", type: last },
    ] as const;
    await node.actors.create(node.kind, runId, toInput(steps));
    const documented = table.get(type)?.[1]?.match(/^\w+/)?.[0] ?? "";
    await time.until(async () => (await readRun(storage, runId)).state === (documented === "fails" ? "failed" : "completed"));
    const { context } = await readRun(storage, runId);
    const error = { code: "provider_unavailable", message: expect.stringContaining(type) };
    const [tried, after] = context.steps;
    expect(tried?.error).toMatchObject(error);
    expect([tried?.status, tried?.attempt, tried?.artifactKeys.length, after?.status]).toEqual(
      { fails: ["failed", 0, 0, "pending"], skipped: ["skipped", 0, 0, "completed"], reports: ["completed", 1, 1, "completed"] }[
        documented
      ],
    );
    if (documented === "fails") expect(context.failure).toMatchObject({ ...error, retryable: false, stepName: "tried" });
    expect(documented === "skipped").toBe(type === "visual_planning" || type === "illustrate");
    await node.pump.drain(AbortSignal.abort());
  });
});
