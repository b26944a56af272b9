/** Tests the texts that the built-in composer writes. */
import { describe, expect, test } from "vitest";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { topic, useExecutors } from "../../../../test/support/stepExecutors.ts";
import { composerNote } from "./composer.ts";

const { complete } = useExecutors();

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
