/** Tests executors with a model, and with articles that are costly to read. */
import { performance } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultLimits } from "../../../../api/limits.ts";
import { type ModelEndpoint, startModelEndpoint } from "../../../../test/support/modelEndpoint.ts";
import { topic, useExecutors } from "../../../../test/support/stepExecutors.ts";
import { after } from "../../../platform/actors/after.ts";
import { createExecutors } from "./executors.ts";
import { createModel } from "./model.ts";

let endpoint: ModelEndpoint;
beforeAll(async () => {
  endpoint = await startModelEndpoint();
});
afterAll(() => endpoint.close());

const { run, complete } = useExecutors();
const modelled = useExecutors(() => {
  const bounds = { totalMs: 60_000, maxTextBytes: defaultLimits["run.stepOutput"], after, log: { warn() {} } };
  return createExecutors({ model: createModel({ baseUrl: endpoint.baseUrl, name: "stand-in", fetch, maxRetries: 0, ...bounds }) });
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
    const { text, summary } = await modelled.complete("draft", given);
    expect(text).toBe("# How wells are dug\n\nDig until it is wet.\n");
    expect(written.join("")).toBe(text);
    expect(summary).toContain("written by stand-in");
    const asked = endpoint.asked.at(-1);
    for (const fact of ["hand-dug well", "Wells are 12 m deep.", "Lining pays.", "## Digging", "shorter", "how to line the shaft"]) {
      expect(asked?.prompt).toContain(fact);
    }
    const key = asked?.headers["idempotency-key"];
    await modelled.complete("draft", given);
    expect(endpoint.asked.at(-1)?.headers["idempotency-key"]).toBe(key);
    await modelled.complete("draft", { ...given, feedback: ["longer"] });
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
      const result = await modelled.run("review", { texts: { "content.md": "Dig." } });
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
    const { artifacts, summary } = await modelled.complete("review", { texts: { "content.md": "Dig." } });
    expect(JSON.parse(artifacts[0]?.text ?? "")).toMatchObject({ verdict: "needs_work", strengths: ["clear"] });
    expect(summary).toContain("1 issues");
  });

  test("[EX3] the budget of the run limits a step", async () => {
    endpoint.answer({ kind: "text", text: "word ".repeat(3000) });
    expect(await modelled.run("draft", { budget: { tokens: 1000 } })).toMatchObject({ kind: "failed", code: "budget_exhausted" });
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
    const result = await modelled.run("review", { texts: { "content.md": "Dig." } });
    expect(result).toMatchObject({ kind: "failed", code: "step_failed", message: expect.stringContaining("not the review") });
  });
});
