/** Tests the steps that check an article: review, SEO review, validation, and verification of code. */
import { describe, expect, test } from "vitest";
import { CodeVerificationReport } from "../../../../api/schema/report.ts";
import { TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import { topic, useExecutors } from "../../../../test/support/stepExecutors.ts";

const { complete } = useExecutors();

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
    const given = { texts: { "content.md": text }, topic: { ...topic, title: "Ponds" }, title: "Ponds" };
    const { review } = await complete("seo_review", given);
    expect(review?.checks[check]).toBe(status);
    expect(review?.findings.length).toBeGreaterThan(0);
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
