/**
 * A language model behind an OpenAI-compatible endpoint, as the executors see it: text as it comes, then how it ended.
 *
 * The client library ends a broken stream quietly, so an end without the model's own word that it is finished is a
 * failure here, and so is a text that stopped at its length. What a model says is a value, never an exception.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, RetryError, streamText } from "ai";
import type { RunUsage } from "../../../api/schema/run.ts";

export interface ModelRequest {
  readonly system: string;
  readonly prompt: string;
  /** What the endpoint is told, so that it may recognise a repeat. */
  readonly idempotencyKey: string;
  /** What is left of the run's budget. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  readonly signal: AbortSignal;
  /** Awaited: the brake. */
  onText?(text: string): Promise<void>;
}

export type ModelOutcome =
  | { readonly kind: "done"; readonly text: string; readonly usage: RunUsage }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly retryable: boolean; readonly usage: RunUsage };

export interface Model {
  readonly name: string;
  ask(request: ModelRequest): Promise<ModelOutcome>;
}

export interface ModelOptions {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly name: string;
  readonly fetch: typeof globalThis.fetch;
  /** Tries of one request before anything of its answer has come. */
  readonly maxRetries?: number;
}

/** Characters of a token, at least, in the languages models are asked in: an early stop, before the endpoint has counted. */
const charactersOfToken = 3;

export function createModel({ baseUrl, apiKey, name, fetch, maxRetries = 2 }: ModelOptions): Model {
  const provider = createOpenAICompatible({
    name: "model",
    baseURL: baseUrl,
    fetch,
    includeUsage: true,
    ...(apiKey === undefined ? {} : { apiKey }),
  });

  return {
    name,
    async ask({ system, prompt, idempotencyKey, budget, signal, onText }) {
      const stop = new AbortController();
      const failures: unknown[] = [];
      const outOfBudget = budget.tokens !== undefined && budget.tokens <= toTokens(system + prompt);
      if (outOfBudget) return toBudgetFailure(none);
      const answer = streamText({
        model: provider(name),
        system,
        prompt,
        maxRetries,
        ...(budget.tokens === undefined ? {} : { maxOutputTokens: budget.tokens - toTokens(system + prompt) }),
        headers: { "idempotency-key": idempotencyKey },
        abortSignal: AbortSignal.any([signal, stop.signal]),
        onError: ({ error }) => {
          failures.push(error);
        },
      });
      // The promises of an answer reject whether or not anybody waits for them.
      const usagePromise = Promise.resolve(answer.totalUsage).then(toUsage, () => none);
      const finish = Promise.resolve(answer.finishReason).catch(() => undefined);
      let text = "";
      try {
        for await (const piece of answer.textStream) {
          text += piece;
          await onText?.(piece);
          if (budget.tokens !== undefined && toTokens(system + prompt + text) > budget.tokens) {
            stop.abort();
            return toBudgetFailure({ ...none, inputTokens: toTokens(system + prompt), outputTokens: toTokens(text) });
          }
        }
      } catch (error) {
        // What the writing throws is the caller's.
        if (failures.length === 0 && !signal.aborted && !isOfProvider(error)) {
          // Nobody waits for the rest: without this the endpoint would go on saying it, and be paid for it.
          stop.abort();
          throw error;
        }
        failures.push(error);
      }
      signal.throwIfAborted();
      const usage = await usagePromise;
      if (failures[0] !== undefined) return toFailure(failures[0], usage);
      if (budget.tokens !== undefined && usage.inputTokens + usage.outputTokens > budget.tokens) return toBudgetFailure(usage);
      if (budget.usd !== undefined && usage.usd > budget.usd) return toBudgetFailure(usage);
      return toEnd(await finish, text, usage);
    },
  };
}

const none: RunUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };

function toTokens(text: string): number {
  return Math.ceil(text.length / (charactersOfToken + 1));
}

interface ReportedUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly raw?: unknown;
}

/** `cost`: in US dollars, where the endpoint says it. */
function toUsage({ inputTokens = 0, outputTokens = 0, raw }: ReportedUsage): RunUsage {
  const cost = (raw as { cost?: unknown } | undefined)?.cost;
  return { inputTokens, outputTokens, usd: typeof cost === "number" ? cost : 0, toolCalls: 0 };
}

function toEnd(reason: string | undefined, text: string, usage: RunUsage): ModelOutcome {
  const failed = (code: string, message: string, retryable: boolean): ModelOutcome => ({ kind: "failed", code, message, retryable, usage });
  if (reason === "length") return failed("step_failed", "The model stopped at its greatest length before the text was finished.", true);
  if (reason === "content-filter") return failed("step_failed", "The model's filter refused the text.", false);
  if (reason !== "stop") return failed("provider_unavailable", "The model's answer broke off before it was finished.", true);
  if (text.trim() === "") return failed("provider_unavailable", "The model's answer was empty.", true);
  return { kind: "done", text, usage };
}

function toBudgetFailure(usage: RunUsage): ModelOutcome {
  return { kind: "failed", code: "budget_exhausted", message: "The step would pass the budget of the run.", retryable: true, usage };
}

function isOfProvider(error: unknown): boolean {
  return error instanceof Error && (error.name.startsWith("AI_") || error.name === "AbortError" || error.name === "TimeoutError");
}

function toFailure(error: unknown, usage: RunUsage): ModelOutcome {
  const last = error instanceof RetryError ? error.lastError : error;
  const failed = (code: string, message: string, retryable: boolean): ModelOutcome => ({ kind: "failed", code, message, retryable, usage });
  if (APICallError.isInstance(last)) {
    const { statusCode } = last;
    if (statusCode === 429) return failed("provider_quota", "The model's endpoint refused more requests for now (429).", true);
    if (statusCode === 401 || statusCode === 403) {
      return failed("provider_unavailable", `The model's endpoint refused the server's credential (${statusCode}).`, false);
    }
    if (statusCode !== undefined && statusCode >= 400) {
      return failed("provider_unavailable", `The model's endpoint answered ${statusCode}.`, statusCode >= 500 || statusCode === 408);
    }
  }
  return failed("provider_unavailable", `The model's endpoint could not be used: ${toReason(last)}.`, true);
}

/** Without addresses, keys or the endpoint's own words: those stay in the log. */
function toReason(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (code === "UND_ERR_BODY_TIMEOUT" || code === "UND_ERR_HEADERS_TIMEOUT") return "it said nothing for too long";
    if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return "no connection came about in time";
    if (code === "ECONNREFUSED") return "it refused the connection";
    if (code === "UND_ERR_SOCKET" || code === "ECONNRESET") return "the connection broke off";
    if (cause.message.includes("OUTBOUND_ALLOW_CIDRS")) return cause.message;
  }
  return "its answer was not understood";
}
