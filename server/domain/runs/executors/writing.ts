/**
 * Performs the steps that write: research, thesis, outline and draft.
 *
 * A model writes the text if one is configured, otherwise the built-in composer. Both show the text live while it is
 * made and return it complete at the end.
 */
import { createHash } from "node:crypto";
import type { ArtifactKind } from "../../../../api/schema/run.ts";
import { noUsage } from "../../../../machines/agentRun.ts";
import { countWords } from "../../call/countWords.ts";
import { present } from "../../call/present.ts";
import { type ArticleReader, toUnread } from "./articleReader.ts";
import type { Composable } from "./composer.ts";
import type { Model } from "./model.ts";
import type { Executor, StepContext, StepResult } from "./port.ts";
import { toPrompt, toSystem, type WritingStep } from "./prompts.ts";

const kinds: Readonly<Record<WritingStep, ArtifactKind>> = { research: "research", thesis: "research", outline: "outline", draft: "draft" };

export function createWriting(step: WritingStep, reader: ArticleReader, model: Model | undefined): Executor {
  return (context) => (model === undefined ? compose(step, reader, context) : write(step, model, context));
}

async function toComposable(step: WritingStep, context: StepContext): Promise<Composable> {
  const { topic, brief, wordCountRange, title, texts, run, step: definition } = context;
  const outline = step === "draft" ? await context.output("outline") : undefined;
  return {
    title,
    texts,
    run: present({ instructions: run.instructions, action: run.action }),
    step: { feedback: definition.feedback },
    ...present({ topic, brief, wordCountRange, outline }),
  };
}

async function compose(step: WritingStep, reader: ArticleReader, context: StepContext): Promise<StepResult> {
  const outcome = await reader.compose({ step, from: await toComposable(step, context) }, context.run.workspaceId);
  if (outcome.kind === "unread") return toUnread(outcome);
  const text = outcome.value;
  if (context.step.file !== undefined) {
    // Write one paragraph at a time, so that readers see a long text grow and an aborted step stops early.
    for (const piece of text.match(/[\s\S]+?(?:\n\n|$)/g) ?? []) {
      context.signal.throwIfAborted();
      await context.write(piece);
    }
  }
  return toResult(step, context, text, "composed without a model", noUsage);
}

async function write(step: WritingStep, model: Model, context: StepContext): Promise<StepResult> {
  const system = toSystem(step);
  const prompt = await toPrompt(step, context);
  const outcome = await model.ask({
    system,
    prompt,
    idempotencyKey: toRequestKey(context, system, prompt),
    budget: context.budget,
    signal: context.signal,
    ...(context.step.file === undefined ? {} : { onText: context.write }),
  });
  if (outcome.kind === "failed") return outcome;
  return toResult(step, context, outcome.text, `written by ${model.name}`, outcome.usage);
}

/**
 * Idempotency key of a model request. Equal requests of a step have equal keys; different feedback gives a different
 * key.
 */
export function toRequestKey({ idempotencyKey }: StepContext, system: string, prompt: string): string {
  const content = createHash("sha256").update(system).update("\0").update(prompt).digest("hex").slice(0, 32);
  return `${idempotencyKey}/${content}`;
}

function toResult(step: WritingStep, { step: { file } }: StepContext, text: string, how: string, usage: typeof noUsage): StepResult {
  return {
    kind: "completed",
    ...(file === undefined ? {} : { text }),
    artifacts: [{ kind: kinds[step], contentType: "text/markdown", text }],
    summary: `${countWords(text)} words, ${how}`,
    usage,
  };
}
