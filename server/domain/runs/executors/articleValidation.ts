/** Performs the step article_validation. `articleRules.ts` has the rules. */
import { noUsage } from "../../../../machines/agentRunContext.ts";
import { type ArticleReader, toUnread } from "./articleReader.ts";
import type { Executor } from "./port.ts";

export function createArticleValidation(reader: ArticleReader): Executor {
  return async ({ run, texts, topic, wordCountRange }) => {
    const markdown = texts["content.md"];
    const expected = { wordCountRange, mustInclude: topic?.mustInclude };
    const outcome = await reader.validateMarkdown({ markdown, expected }, run.workspaceId);
    if (outcome.kind === "unread") return toUnread(outcome);
    const report = outcome.value;
    const errors = report.findings.filter(({ severity }) => severity === "error").length;
    return {
      kind: "completed",
      artifacts: [{ kind: "json", contentType: "application/json", text: JSON.stringify(report) }],
      summary: `${report.status}: ${errors} errors, ${report.findings.length - errors} warnings, ${report.wordCount} words`,
      usage: noUsage,
    };
  };
}
