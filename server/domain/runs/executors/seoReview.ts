/** Performs the step seo_review: reviews the article against the topic's SEO brief. `seoChecks.ts` has the checks. */
import type { SeoCheckStatus, TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import { noUsage } from "../../../../machines/agentRunContext.ts";
import { type ArticleReader, toUnread } from "./articleReader.ts";
import type { Executor } from "./port.ts";
import { toUnreviewed } from "./unavailableReports.ts";

export function createSeoReview(reader: ArticleReader): Executor {
  return async (context) => {
    const { run, texts, brief, title, now } = context;
    const refuse = (message: string) => toUnreviewed(context, { code: "not_ready", message });
    if (brief === undefined) return refuse("The run has no topic, so there is no brief to review against.");
    const markdown = texts["content.md"];
    if (markdown.trim() === "") return refuse("The article has no text yet.");
    const outcome = await reader.reviewMarkdown({ markdown, title, brief }, run.workspaceId);
    if (outcome.kind === "unread") return toUnread(outcome);
    const { checks, findings } = outcome.value;
    const review: TopicSeoReviewSnapshot = {
      runId: run.runId,
      seoBriefRevision: brief.revision,
      reviewedAt: now() / 1000,
      checks,
      findings: [...findings],
    };
    const statuses = Object.values(checks);
    const count = (status: SeoCheckStatus) => statuses.filter((each) => each === status).length;
    return {
      kind: "completed",
      artifacts: [{ kind: "json", contentType: "application/json", text: JSON.stringify(review) }],
      summary: `${count("pass")} checks pass, ${count("warning")} warn, ${count("fail")} fail, ${count("not_checked")} not checked`,
      usage: noUsage,
      review,
    };
  };
}
