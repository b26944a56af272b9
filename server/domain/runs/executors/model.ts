/**
 * Asks a language model behind an OpenAI-compatible endpoint: it streams the text, then returns the outcome.
 *
 * The client library ends a broken stream without an error. Therefore an end without a finish reason is a failure here,
 * and so is a text that was cut at its maximum length. Failures of the model are returned as values, not thrown.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";
import type { Logger } from "pino";
import type { RunUsage } from "../../../../api/schema/run.ts";
import type { After } from "../../../platform/actors/after.ts";
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
  /** Sent to the endpoint, so that it can recognise a repeated request. */
  readonly idempotencyKey: string;
  /** Rest of the run's budget. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  readonly signal: AbortSignal;
  /**
   * Called with each piece of the text and awaited before the next one. Meanwhile the endpoint's stream is still read,
   * up to the maximum length of an answer.
   */
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
  /** Maximum number of retries of one request. A request is retried only before any part of its answer has arrived. */
  readonly maxRetries?: number;
  /** Time limit from the first try to the end of the text, even if the endpoint still sends data. */
  readonly totalMs: number;
  /** Maximum size of the text. A longer text is a failure. */
  readonly maxTextBytes: number;
  readonly after: After;
  /** Receives the endpoint's own description of a failure. */
  readonly log: Pick<Logger, "warn">;
}

/** Approximate number of characters in a token. It allows an early stop before the endpoint reports its own count. */
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
      let reported: RunUsage | undefined;
      /** Estimated usage. It is used until the endpoint reports its count, or if the endpoint never does. */
      const counted = (): RunUsage => (characters === 0 ? none : { ...none, inputTokens, outputTokens: toTokens(characters) });
      // Do not use the promises of the client library for the end of the answer: reading one consumes the stream
      // without backpressure.
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
          // Stop after an unreadable part: the answer may continue, and all further text costs money.
          if (failures.length > 0) break;
          if (part.type === "finish-step") {
            reason = part.finishReason;
            reported = toUsage(part.usage);
          }
          if (part.type === "reasoning-delta") characters += part.text.length;
          if (part.type === "text-delta") {
            // Documents do not accept NUL characters. Surrogate halves stay, because the other half may be in the next
            // piece.
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
        // Errors of `onText` belong to the caller.
        if (failures.length === 0 && !signal.aborted && !isOfProvider(error)) throw error;
        failures.push(error);
      } finally {
        stopDeadline();
        // Abort the request, otherwise the endpoint continues the answer and charges for it.
        stop.abort();
      }
      signal.throwIfAborted();
      if (isOverdue) return toFailed(toSilenceFailure(totalMs), counted());
      if (failures[0] !== undefined) {
        const failure = toModelFailure(failures[0], text);
        log.warn({ idempotencyKey, failure, endpointWords: toEndpointWords(failures[0], apiKey) }, "the model's endpoint failed");
        return toFailed(failure, counted());
      }
      const usage = reported ?? counted();
      const { tokens, usd } = budget;
      // The endpoint stopped at the limit that the budget set, so the budget is the cause.
      const isCut =
        reason === "length" && maxOutputTokens !== undefined && (reported === undefined || reported.outputTokens >= maxOutputTokens);
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

/** Usage that the endpoint reported; undefined if it reported none. `cost` is in US dollars and optional. */
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
