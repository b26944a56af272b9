/** Tests each executor with an article and a topic in the form in which the engine passes them. */
import { performance } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultLimits } from "../../../../api/limits.ts";
import { CodeVerificationReport } from "../../../../api/schema/report.ts";
import { type TopicSeoBrief, TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import type { WorkflowStepType } from "../../../../api/schema/workflow.ts";
import { type ModelEndpoint, startModelEndpoint } from "../../../../test/support/modelEndpoint.ts";
import { after } from "../../../platform/actors/after.ts";
import { countWords } from "../../call/countWords.ts";
import { composerNote } from "./composer.ts";
import { createExecutors, type ExecutorService } from "./executors.ts";
import { createModel } from "./model.ts";
import type { StepContext, StepResult } from "./port.ts";

const topic: ContentTopic = {
  topicId: "top_1",
  workspaceId: "ws_1",
  ownerId: "ada",
  title: "How wells are dug",
  targetAudience: "village councils",
  estimatedIntent: "informational",
  priorityScore: 50,
  priorityRationale: "asked for often",
  status: "outlined",
  createdAt: 1,
  updatedAt: 1,
  articleType: "how_to",
  primaryKeyword: "hand-dug well",
  secondaryKeywords: ["well lining", "water table"],
  mustInclude: ["how to line the shaft"],
  thesis: "A lined well pays for itself in one dry season.",
  readerPain: "the well falls dry in August",
  suggestedSources: [{ url: "https://wells.example/guide", why: "tables of depths" }],
  evidencePlan: ["ask three councils for their costs"],
};

const brief = {
  revision: 3,
  intent: "informational",
  primaryTargets: [{ keyword: "hand-dug well", role: "primary", intent: "informational" }],
  supportingClusters: [
    {
      clusterId: "c1",
      label: "building",
      readerNeed: "how",
      intent: "informational",
      terms: ["well lining", "water table"].map((keyword) => ({ keyword, role: "supporting", intent: "informational" })),
    },
  ],
} as unknown as TopicSeoBrief;

interface Given {
  readonly topic?: ContentTopic | undefined;
  readonly texts?: Partial<StepContext["texts"]>;
  readonly outputs?: Partial<Record<WorkflowStepType, string>>;
  readonly action?: "create" | "update" | "optimize" | "rewrite";
  readonly feedback?: readonly string[];
  readonly wordCountRange?: { min: number; max: number };
  readonly budget?: StepContext["budget"];
  readonly written?: string[];
}

function toContext(type: WorkflowStepType, given: Given = {}): StepContext {
  const file = ({ research: "research.md", outline: "outline.md", draft: "content.md" } as const)[type as "draft"];
  return {
    run: { runId: "run_1", workspaceId: "ws_1", workflowId: "draft", ...(given.action === undefined ? {} : { action: given.action }) },
    step: { name: type, type, tools: [], config: {}, attempt: 1, feedback: given.feedback ?? [], ...(file === undefined ? {} : { file }) },
    idempotencyKey: `run_1/${type}`,
    ...("topic" in given && given.topic === undefined ? {} : { topic: given.topic ?? topic, brief }),
    ...(given.wordCountRange === undefined ? {} : { wordCountRange: given.wordCountRange }),
    title: topic.title,
    texts: { "content.md": "", "outline.md": "", "research.md": "", ...given.texts },
    output: async (wanted) => given.outputs?.[wanted],
    budget: given.budget ?? {},
    write: async (text) => void given.written?.push(text),
    signal: new AbortController().signal,
    limits: defaultLimits,
    now: () => 1_800_000_000_000,
  };
}

let endpoint: ModelEndpoint;
let service: ExecutorService;
let modelled: ExecutorService;

beforeAll(async () => {
  endpoint = await startModelEndpoint();
  service = createExecutors({});
  const bounds = { totalMs: 60_000, maxTextBytes: defaultLimits["run.stepOutput"], after, log: { warn() {} } };
  modelled = createExecutors({ model: createModel({ baseUrl: endpoint.baseUrl, name: "stand-in", fetch, maxRetries: 0, ...bounds }) });
});
afterAll(async () => {
  await Promise.all([service.close(), modelled.close(), endpoint.close()]);
});

async function run(type: WorkflowStepType, given: Given = {}, by = service): Promise<StepResult> {
  const executor = by.executors[type];
  if (executor === undefined) throw new Error(`no executor for ${type}`);
  return executor(toContext(type, given));
}

async function complete(type: WorkflowStepType, given: Given = {}, by = service) {
  const result = await run(type, given, by);
  if (result.kind !== "completed") throw new Error(JSON.stringify(result));
  return result;
}

describe("the composer", () => {
  test("[EX5] an outline has the article type's sections, the topic's facts and the range's word count", async () => {
    const { text = "", artifacts } = await complete("outline", { wordCountRange: { min: 900, max: 1100 } });
    expect(artifacts).toEqual([{ kind: "outline", contentType: "text/markdown", text }]);
    expect(text.startsWith("# How wells are dug\n")).toBe(true);
    for (const fact of [
      "village councils",
      "how to line the shaft",
      "well lining",
      "water table",
      "https://wells.example/guide",
      "900 to 1100",
      "Steps",
    ]) {
      expect(text).toContain(fact);
    }
    const words = [...text.matchAll(/\(about (\d+) words\)/g)].map(([, count]) => Number(count));
    const sum = words.reduce((total, count) => total + count, 0);
    expect(sum).toBeGreaterThanOrEqual(900);
    expect(sum).toBeLessThanOrEqual(1100);
    const questions = await complete("outline", { topic: { ...topic, articleType: "explanation", articleFormat: "q_and_a" } });
    expect(questions.text).toContain("## What is hand-dug well?");
  });

  test("[EX6] every composed text states that it was composed, and is the same for the same topic", async () => {
    for (const type of ["research", "thesis", "outline", "draft"] as const) {
      const first = await complete(type);
      expect(first.artifacts[0]?.text).toContain(composerNote);
      expect(first.summary).toContain("without a model");
      expect((await complete(type)).artifacts[0]?.text).toBe(first.artifacts[0]?.text);
    }
  });

  test("[EX7] the pieces shown live add up to the text with which the step ends", async () => {
    const written: string[] = [];
    const { text } = await complete("draft", { written });
    expect(written.length).toBeGreaterThan(5);
    expect(written.join("")).toBe(text);
  });

  test("[EX5] a draft follows the outline as people edited it, and includes their requests", async () => {
    const outline = "# How wells are dug\n\n## A section of our own\n\nSay why.\n\n- one point\n\n## Sources\n\n- none";
    const { text = "" } = await complete("draft", { texts: { "outline.md": outline }, feedback: ["mention the costs"] });
    expect(text).toContain("## A section of our own");
    expect(text).toContain("- one point");
    expect(text).toContain("mention the costs");
    expect(text).not.toContain("Check the result");
  });

  test("[EX5] updating a draft keeps every existing word", async () => {
    const existing = "# How wells are dug\n\nOur own words.\n\n## Steps\n\nDig.";
    const { text = "" } = await complete("draft", { texts: { "content.md": existing }, action: "update" });
    expect(text.startsWith(existing)).toBe(true);
    expect(text).toContain("## What you need");
    expect(text.match(/^## Steps$/gm)).toHaveLength(1);
  });

  test("[EX5] a topic with only a title still gets a frame without invented facts", async () => {
    const bare: ContentTopic = {
      topicId: "top_2",
      workspaceId: "ws_1",
      ownerId: "ada",
      title: "Ponds",
      targetAudience: "gardeners",
      estimatedIntent: "informational",
      priorityScore: 50,
      priorityRationale: "",
      status: "idea",
      createdAt: 1,
      updatedAt: 1,
    };
    expect((await complete("research", { topic: bare })).artifacts[0]?.text).toContain("a primary keyword");
    expect((await complete("thesis", { topic: bare })).artifacts[0]?.text).toContain("names no thesis yet");
    expect((await complete("draft", { topic: undefined })).text).toContain("# How wells are dug");
  });
});

describe("a model", () => {
  test("[EX8] a model receives topic, earlier results and requests, and its text is used unchanged", async () => {
    endpoint.answer({ kind: "text", text: "# How wells are dug\n\nDig until it is wet.\n" });
    const written: string[] = [];
    const given = {
      written,
      outputs: { research: "Wells are 12 m deep.", thesis: "Lining pays." },
      texts: { "outline.md": "## Digging" },
      feedback: ["shorter"],
    };
    const { text, summary } = await complete("draft", given, modelled);
    expect(text).toBe("# How wells are dug\n\nDig until it is wet.\n");
    expect(written.join("")).toBe(text);
    expect(summary).toContain("written by stand-in");
    const asked = endpoint.asked.at(-1);
    for (const fact of ["hand-dug well", "Wells are 12 m deep.", "Lining pays.", "## Digging", "shorter", "how to line the shaft"]) {
      expect(asked?.prompt).toContain(fact);
    }
    const key = asked?.headers["idempotency-key"];
    await complete("draft", given, modelled);
    expect(endpoint.asked.at(-1)?.headers["idempotency-key"]).toBe(key);
    await complete("draft", { ...given, feedback: ["longer"] }, modelled);
    expect(endpoint.asked.at(-1)?.headers["idempotency-key"]).not.toBe(key);
  });

  test("[EX9] a review that is not the requested JSON is a retryable failure with the reason", async () => {
    const wrong = [
      "I like it.",
      '{"verdict": "great"}',
      '{"verdict": "ready", "strengths": [], "issues": [{"severity": "huge", "message": "x"}]}',
    ];
    for (const text of wrong) {
      endpoint.answer({ kind: "text", text });
      const result = await run("review", { texts: { "content.md": "Dig." } }, modelled);
      expect(result).toMatchObject({
        kind: "failed",
        code: "step_failed",
        retryable: true,
        message: expect.stringContaining("not the review"),
      });
    }
    endpoint.answer({
      kind: "text",
      text: '```json\n{"verdict": "needs_work", "strengths": ["clear"], "issues": [{"severity": "low", "message": "short"}]}\n```',
    });
    const { artifacts, summary } = await complete("review", { texts: { "content.md": "Dig." } }, modelled);
    expect(JSON.parse(artifacts[0]?.text ?? "")).toMatchObject({ verdict: "needs_work", strengths: ["clear"] });
    expect(summary).toContain("1 issues");
  });

  test("[EX3] the budget of the run limits a step", async () => {
    endpoint.answer({ kind: "text", text: "word ".repeat(3000) });
    expect(await run("draft", { budget: { tokens: 1000 } }, modelled)).toMatchObject({ kind: "failed", code: "budget_exhausted" });
  });
});

describe("the checks", () => {
  test("[EX10] without a model, the review checks draft against outline and topic, and says so", async () => {
    const texts = { "outline.md": "## Digging\n\n## Lining", "content.md": "# Wells\n\n## Digging\n\nDig, and how to line the shaft." };
    const { artifacts, summary } = await complete("review", { texts });
    expect(JSON.parse(artifacts[0]?.text ?? "")).toMatchObject({
      by: "by rules, without a model",
      verdict: "needs_work",
      issues: [{ message: expect.stringContaining("Lining") }],
    });
    expect(summary).toContain("without a model");
  });

  const sample = (words: string) =>
    `# The hand-dug well\n\nA hand-dug well reaches the water table. ${words}\n\n## How a hand-dug well gets its well lining\n\n- one\n- two\n`;

  test("[EX11] an article that meets its brief passes all five checks and has the specified snapshot", async () => {
    const { review } = await complete("seo_review", { texts: { "content.md": sample("Other words stand here. ".repeat(40)) } });
    expect(TopicSeoReviewSnapshot.parse(review)).toEqual(review);
    expect(review).toMatchObject({ runId: "run_1", seoBriefRevision: 3, findings: [] });
    expect(new Set(Object.values(review?.checks ?? {}))).toEqual(new Set(["pass"]));
  });

  test.each([
    ["keywordRepetition", "fail", sample("hand-dug well ".repeat(30))],
    ["headingStructure", "fail", "word ".repeat(400)],
    ["headingStructure", "warning", `${sample("More words. ".repeat(30))}\n#### Too deep\n\ntext`],
    ["supportingCoverage", "fail", "# The hand-dug well\n\nNothing else."],
    ["primaryTargetPlacement", "fail", "# Ponds\n\nFish."],
    ["intentAlignment", "warning", "# The hand-dug well\n\nText."],
  ] as const)("[EX11] %s is %s when the article gives a reason, and a finding describes it", async (check, status, text) => {
    const title = { ...topic, title: "Ponds" };
    const executor = service.executors.seo_review;
    const result = await executor?.({ ...toContext("seo_review", { texts: { "content.md": text }, topic: title }), title: "Ponds" });
    if (result?.kind !== "completed") throw new Error("the review was not made");
    expect(result.review?.checks[check]).toBe(status);
    expect(result.review?.findings.length).toBeGreaterThan(0);
  });

  test("[EX11] without a brief or a text, the report says that nothing was checked and why", async () => {
    const nothing = [{ topic: undefined, texts: { "content.md": "x" } }, {}];
    for (const options of nothing) {
      const result = await complete("seo_review", options);
      const report = TopicSeoReviewSnapshot.parse(JSON.parse(result.artifacts[0]?.text ?? ""));
      expect(new Set(Object.values(report.checks))).toEqual(new Set(["not_checked"]));
      expect(report.findings).toMatchObject([{ code: "not_ready", message: result.unavailable?.message }]);
      // The topic keeps its last real review.
      expect(result.review).toBeUndefined();
    }
  });

  test("[EX12] text that must not be published is found with its line, and a clean article passes", async () => {
    const clean = `# Wells\n\nHow to line the shaft, in ${"plain words and ".repeat(10)}order.\n\n## Digging\n\n[A guide](https://wells.example/guide)\n`;
    const good = await complete("article_validation", { texts: { "content.md": clean } });
    expect(JSON.parse(good.artifacts[0]?.text ?? "")).toMatchObject({ status: "pass", findings: [] });
    const bad =
      "# Wells\n\n# Again\n\nTODO: write this. [here]() and [run](javascript:alert(1)).\n\n### Deep\n\n![](http://x.example/a.png)\n";
    const report = JSON.parse((await complete("article_validation", { texts: { "content.md": bad } })).artifacts[0]?.text ?? "") as {
      status: string;
      findings: { code: string; line?: number }[];
    };
    expect(report.status).toBe("fail");
    const found = Object.fromEntries(report.findings.map(({ code, line }) => [code, line]));
    expect(found).toMatchObject({
      second_title: 3,
      placeholder: 5,
      empty_link: 5,
      unsafe_link: 5,
      heading_level_skipped: 7,
      picture_without_text: 9,
      picture_not_https: 9,
    });
    const framed = await complete("draft");
    expect((await complete("article_validation", { texts: { "content.md": framed.text ?? "" } })).summary).toContain("fail");
  });

  test("[EX13] every supported language is parsed, with valid and with invalid code", async () => {
    const samples: Readonly<Record<string, readonly [good: string, bad: string]>> = {
      js: ["const a = 1;", "const = ;"],
      jsx: ["const a = <b>x</b>;", "const a = <b>x</;"],
      ts: ["type A = { b: number };", "type A = { b: ;"],
      tsx: ["const a: A = <b/>;", "const a: = <b/>;"],
      json: ['{"a":1}', '{"a":1,}'],
      yaml: ["a: 1\nb:\n  - 2", "a: [1\nb: 2"],
      toml: ["a = 1", "a = "],
      css: ["a { color: red }", "a { color: "],
      python: ["def f(x):\n    return x", "def f(x:\n  return"],
      bash: ["for i in a; do echo $i; done", "for i in a; do echo"],
      sql: ["select 1 from t where a = 'b'", "selct 1"],
      go: ["package main\nfunc main() {}", "package main\nfunc main( {}"],
      rust: ["fn main() {}", "fn main( {}"],
      java: ["class A { void b() {} }", "class A { void b( {} }"],
      ruby: ["def a; 1; end", "def a; 1;"],
      php: ["echo 'a';", "echo 'a"],
      cpp: ["int main() { return 0; }", "int main( { return 0 }"],
      csharp: ["class A { void B() {} }", "class A { void B( {} }"],
    };
    const article = Object.entries(samples).map(
      ([lang, [good, bad]]) => `\`\`\`${lang}\n${good}\n\`\`\`\n\n\`\`\`${lang.toUpperCase()} title="x"\n${bad}\n\`\`\`\n`,
    );
    const { artifacts } = await complete("code_verification", { texts: { "content.md": article.join("\n") } });
    const report = CodeVerificationReport.parse(JSON.parse(artifacts[0]?.text ?? ""));
    expect(report).toMatchObject({
      status: "complete",
      blockCount: 36,
      blocksOmitted: 0,
      counts: { parsed: 18, parse_failed: 18, skipped: 0 },
    });
    for (const { index, status, diagnostics } of report.blocks) {
      expect(status).toBe(index % 2 === 0 ? "parsed" : "parse_failed");
      if (status === "parse_failed") expect(diagnostics?.[0]).toMatchObject({ message: expect.any(String), line: expect.any(Number) });
    }
    expect(report.blocks[2]?.line).toBe(9);
  }, 60_000);

  test("[EX14] a code block that is not parsed has a reason, and blocks beyond the limit are counted", async () => {
    const blocks = [
      "```\nplain\n```",
      "```cobol\nx\n```",
      "```js\n\n```",
      `\`\`\`js\n${"a;".repeat(11_000)}\n\`\`\``,
      ...Array.from({ length: 50 }, () => "```json\n1\n```"),
    ];
    const { artifacts } = await complete("code_verification", { texts: { "content.md": blocks.join("\n\n") } });
    const report = CodeVerificationReport.parse(JSON.parse(artifacts[0]?.text ?? ""));
    expect(report).toMatchObject({ blockCount: 54, blocksOmitted: 4, counts: { parsed: 46, skipped: 4 } });
    const reasons = report.blocks.slice(0, 4).map(({ skipReason }) => skipReason);
    expect(reasons).toEqual(["unsupported_language", "unsupported_language", "empty_block", "block_too_large"]);
  });
});

describe("unusual articles", () => {
  const oddities: readonly (readonly [string, string])[] = [
    ["a heading of half a million blanks", `## a${" ".repeat(500_000)}x`],
    ["a heading of half a million hashes", `## a${"#".repeat(500_000)}x`],
    ["forty thousand headings", Array.from({ length: 40_000 }, (_, at) => `## part ${at}`).join("\n")],
  ];
  const words = `${"parts of parts of part 1 of the whole. ".repeat(20_000)}\n\n## 1. Part 7\n`;

  test.each(oddities)("[EX15] %s: the draft is composed in a thread, in one pass, while others are served", async (_what, outline) => {
    for (const action of ["create", "update"] as const) {
      const before = performance.eventLoopUtilization();
      const { text = "" } = await complete("draft", { texts: { "outline.md": outline, "content.md": words }, action });
      // The limit is generous: two nested passes over this text would take minutes, and one pass takes milliseconds.
      expect(performance.eventLoopUtilization(before).active).toBeLessThan(30_000);
      expect(text.startsWith(words.trimEnd())).toBe(action === "update");
      expect(text.length).toBeGreaterThan(outline.length);
    }
  });

  test("[EX5] an update adds only the sections that are missing, and a heading keeps its own hash", async () => {
    const outline = "## Part 7 ##\n\n## Part 8\n\n## Why C#\n";
    const existing = "# Wells\n\nOf part 8 in passing.\n\n### 2. Part 7\n\nHere.";
    const { text = "" } = await complete("draft", { texts: { "outline.md": outline, "content.md": existing }, action: "update" });
    expect(text.match(/^## .*$/gm)).toEqual(["## Part 8", "## Why C#", "## Terms not covered yet"]);
  });

  test("[EX15] a search for thousands of terms in a long article ends or is stopped, and delays nobody", async () => {
    const terms = Array.from({ length: 3000 }, (_, at) => `part of ${at}`);
    const many = { ...topic, mustInclude: terms };
    for (const type of ["article_validation", "review"] as const) {
      const result = await run(type, { topic: many, texts: { "content.md": words.slice(-100_000) } });
      // On a busy machine the text may exceed its time limit.
      if (result.kind === "failed") expect(result.message).toContain("too long");
      else expect(result.summary).toEqual(expect.any(String));
    }
  });

  test("[EX9] an answer of one fence and a hundred thousand empty lines is refused at once", async () => {
    endpoint.answer({ kind: "text", text: `\`\`\`\n${"\n".repeat(100_000)}x`, pieceCharacters: 50_000 });
    const result = await run("review", { texts: { "content.md": "Dig." } }, modelled);
    expect(result).toMatchObject({ kind: "failed", code: "step_failed", message: expect.stringContaining("not the review") });
  });
});

test("[EX5] words are counted as people count them", () => {
  expect(countWords("It's a hand-dug well: 12 m, tief und naß — déjà vu.")).toBe(11);
  expect(countWords("井戸を掘る: a de\u0301ja\u0300 vu")).toBe(8);
});
