/**
 * Performs the step review: judges the draft as an editor would.
 *
 * A model must answer with JSON of one fixed shape; any other answer is a failure. Without a model, rules compare the
 * draft with its outline and topic, and the result says so.
 */
import { z } from "zod";
import { noUsage } from "../../../../machines/agentRun.ts";
import { type ArticleReader, toUnread } from "./articleReader.ts";
import type { DraftJudgement } from "./judgeDraft.ts";
import type { Model } from "./model.ts";
import type { Executor, StepContext, StepResult } from "./port.ts";
import { toPrompt, toSystem } from "./prompts.ts";
import { toRequestKey } from "./writing.ts";

const ReviewAnswer = z.object({
  verdict: z.enum(["ready", "needs_work"]),
  strengths: z.array(z.string()).max(20),
  issues: z.array(z.object({ severity: z.enum(["low", "medium", "high"]), message: z.string(), location: z.string().optional() })).max(50),
});
type ReviewAnswer = z.infer<typeof ReviewAnswer>;

const form =
  '\n\nAnswer with one JSON object and nothing else: {"verdict": "ready" or "needs_work", "strengths": [text], "issues": [{"severity": "low", "medium" or "high", "message": text, "location": text}]}';

export function createReview(reader: ArticleReader, model: Model | undefined): Executor {
  return (context) => (model === undefined ? judge(reader, context) : ask(model, context));
}

function toResult(review: DraftJudgement, by: string, usage: typeof noUsage): StepResult {
  const { verdict, issues } = review;
  return {
    kind: "completed",
    artifacts: [{ kind: "json", contentType: "application/json", text: JSON.stringify({ by, ...review }) }],
    summary: `${verdict === "ready" ? "Ready" : "Needs work"}, ${issues.length} issues, reviewed ${by}`,
    usage,
  };
}

async function ask(model: Model, context: StepContext): Promise<StepResult> {
  const system = toSystem("review") + form;
  const prompt = await toPrompt("review", context);
  const { budget, signal } = context;
  const outcome = await model.ask({ system, prompt, idempotencyKey: toRequestKey(context, system, prompt), budget, signal });
  if (outcome.kind === "failed") return outcome;
  const parsed = parse(outcome.text);
  if ("review" in parsed) return toResult(parsed.review, `by ${model.name}`, outcome.usage);
  const message = `The model's answer is not the review that was asked for: ${parsed.reason}`;
  return { kind: "failed", code: "step_failed", message, retryable: true, usage: outcome.usage };
}

/** Removes a code fence that encloses the complete text. */
function unfence(text: string): string {
  const lines = text.split("\n");
  const isFenced = lines.length > 2 && /^```(?:json)?\s*$/.test(lines[0] ?? "") && lines.at(-1) === "```";
  return isFenced ? lines.slice(1, -1).join("\n") : text;
}

function parse(text: string): { readonly review: ReviewAnswer } | { readonly reason: string } {
  // Models often enclose their answer in a code fence.
  const bare = unfence(text.trim());
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch {
    return { reason: "it is not valid JSON." };
  }
  const result = ReviewAnswer.safeParse(value);
  if (result.success) return { review: result.data };
  const [issue] = result.error.issues;
  return { reason: `${issue?.path.join(".") || "the whole"}: ${issue?.message ?? "wrong shape"}.` };
}

async function judge(reader: ArticleReader, { texts, topic, run }: StepContext): Promise<StepResult> {
  const outcome = await reader.judgeDraft({ texts, mustInclude: topic?.mustInclude ?? [] }, run.workspaceId);
  return outcome.kind === "unread" ? toUnread(outcome) : toResult(outcome.value, "by rules, without a model", noUsage);
}
