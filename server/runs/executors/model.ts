/**
 * A language model behind an OpenAI-compatible endpoint, as the executors see it: text as it comes, then how it ended.
 *
 * The client library ends a broken stream quietly, so an end without the model's own word that it is finished is a
 * failure here, and so is a text that stopped at its length. What a model says is a value, never an exception.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import type { Logger } from "pino";
import type { RunUsage } from "../../../api/schema/run.ts";
import type { After } from "../../actors/after.ts";
import {
  type ModelFailure,
  toBudgetFailure,
  toEndFailure,
  toEndpointWords,
  toLengthFailure,
  toModelFailure,
  toSilenceFailure,
} from "./modelFailure.ts";

export interface ModelRequest {
  readonly system: string;
  readonly prompt: string;
  /** What the endpoint is told, so that it may recognise a repeat. */
  readonly idempotencyKey: string;
  /** What is left of the run's budget. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  readonly signal: AbortSignal;
  /** Awaited before the next piece is given; the endpoint is read on meanwhile, as far as an answer may be long. */
  onText?(text: string): Promise<void>;
}

export type ModelOutcome =
  | { readonly kind: "done"; readonly text: string; readonly usage: RunUsage }
  | (ModelFailure & { readonly kind: "failed"; readonly usage: RunUsage });

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
  /** From the first try to the end of the text, however busy the endpoint seems. */
  readonly totalMs: number;
  /** More is not kept. */
  readonly maxTextBytes: number;
  readonly after: After;
  /** For what the endpoint itself says of a failure. */
  readonly log: Pick<Logger, "warn">;
}

/** Characters of a token, about, in the languages models are asked in: an early stop, before the endpoint has counted. */
const charactersOfToken = 4;

export function createModel(options: ModelOptions): Model {
  const { baseUrl, apiKey, name, fetch, maxRetries = 2, totalMs, maxTextBytes, after, log } = options;
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
      const inputTokens = toTokens(system.length + prompt.length);
      if (budget.tokens !== undefined && budget.tokens <= inputTokens) return toFailed(toBudgetFailure("maxTokens"), none);
      const maxOutputTokens = budget.tokens === undefined ? undefined : budget.tokens - inputTokens;
      const stop = new AbortController();
      const failures: unknown[] = [];
      let isOverdue = false;
      const stopDeadline = after(totalMs, () => {
        isOverdue = true;
        stop.abort();
      });
      let text = "";
      let textBytes = 0;
      let characters = 0;
      let reason: string | undefined;
      let told: RunUsage | undefined;
      /** Until the endpoint has counted; of one that never does it is all there is. */
      const counted = (): RunUsage => (characters === 0 ? none : { ...none, inputTokens, outputTokens: toTokens(characters) });
      // The client's promises of an answer's end are left alone: to ask for one reads the answer as fast as it comes.
      const answer = streamText({
        model: provider(name),
        system,
        prompt,
        maxRetries,
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
        headers: { "idempotency-key": idempotencyKey },
        abortSignal: AbortSignal.any([signal, stop.signal]),
        onError: ({ error }) => {
          failures.push(error);
        },
      });
      try {
        for await (const part of answer.fullStream) {
          // Behind a part that cannot be read the answer may go on, and every word of it is paid for.
          if (failures.length > 0) break;
          if (part.type === "finish-step") {
            reason = part.finishReason;
            told = toUsage(part.usage);
          }
          if (part.type === "reasoning-delta") characters += part.text.length;
          if (part.type === "text-delta") {
            // What no document takes; halves of characters may meet their other half in the next piece.
            const piece = part.text.replaceAll("\0", "\ufffd");
            text += piece;
            characters += piece.length;
            textBytes += Buffer.byteLength(piece);
            if (piece !== "") await onText?.(piece);
          }
          if (textBytes > maxTextBytes) return toFailed(toLengthFailure(maxTextBytes), counted());
          if (maxOutputTokens !== undefined && toTokens(characters) > maxOutputTokens) {
            return toFailed(toBudgetFailure("maxTokens"), counted());
          }
        }
      } catch (error) {
        // What the writing throws is the caller's.
        if (failures.length === 0 && !signal.aborted && !isOfProvider(error)) throw error;
        failures.push(error);
      } finally {
        stopDeadline();
        // Nobody waits for the rest: without this the endpoint would go on saying it, and be paid for it.
        stop.abort();
      }
      signal.throwIfAborted();
      if (isOverdue) return toFailed(toSilenceFailure(totalMs), counted());
      if (failures[0] !== undefined) {
        const failure = toModelFailure(failures[0], text);
        log.warn({ idempotencyKey, failure, endpointWords: toEndpointWords(failures[0], apiKey) }, "the model's endpoint failed");
        return toFailed(failure, counted());
      }
      const usage = told ?? counted();
      const { tokens, usd } = budget;
      // Whoever was told to stop there does as it was told.
      const isCut = reason === "length" && maxOutputTokens !== undefined && (told === undefined || told.outputTokens >= maxOutputTokens);
      if (isCut || (tokens !== undefined && usage.inputTokens + usage.outputTokens > tokens))
        return toFailed(toBudgetFailure("maxTokens"), usage);
      if (usd !== undefined && usage.usd > usd) return toFailed(toBudgetFailure("maxUsd"), usage);
      if (reason === "stop" && text.trim() !== "") return { kind: "done", text, usage };
      return toFailed(toEndFailure(reason, text), usage);
    },
  };
}

const none: RunUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };

function toTokens(characters: number): number {
  return Math.ceil(characters / charactersOfToken);
}

interface ReportedUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly raw?: unknown;
}

/** `cost`: in US dollars, where the endpoint says it. Undefined where it has counted nothing. */
function toUsage({ inputTokens = 0, outputTokens = 0, raw }: ReportedUsage): RunUsage | undefined {
  if (raw === undefined) return undefined;
  const cost = (raw as { cost?: unknown } | undefined)?.cost;
  return { inputTokens, outputTokens, usd: typeof cost === "number" ? cost : 0, toolCalls: 0 };
}

function toFailed(failure: ModelFailure, usage: RunUsage): ModelOutcome {
  return { kind: "failed", ...failure, usage };
}

function isOfProvider(error: unknown): boolean {
  return error instanceof Error && (error.name.startsWith("AI_") || error.name === "AbortError" || error.name === "TimeoutError");
}
