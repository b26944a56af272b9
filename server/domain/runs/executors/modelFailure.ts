/**
 * Describes a failure of the model: a code, a message with advice, and whether a retry may succeed.
 *
 * The message contains no address, key or text of the endpoint. Address and text may be logged; the key must never be
 * logged.
 */
import { APICallError, InvalidResponseDataError, RetryError } from "ai";
import { ProviderRefusal } from "../../../platform/outbound/providerRefusal.ts";

export interface ModelFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

const retryLater = "Retry the run later.";
const toOperator = (setting: string) => `The operator of the server has to check ${setting}; then retry the run.`;
const unavailable = (message: string, retryable: boolean): ModelFailure => ({ code: "provider_unavailable", message, retryable });

/** Failure of an answer that is not complete. */
export function toEndFailure(finishReason: string | undefined, text: string): ModelFailure {
  if (finishReason === "length") {
    const message = "The model reached its maximum length before the text was finished. Ask for a shorter text, or retry the run.";
    return { code: "step_failed", message, retryable: true };
  }
  if (finishReason === "content-filter") {
    const message = "The model's filter refused the text. Change the topic's words or the instructions and start a new run.";
    return { code: "step_failed", message, retryable: false };
  }
  if (finishReason === "stop") return unavailable("The model's answer was empty. Retry the run.", true);
  if (text === "") return unavailable(`The model's endpoint gave no answer. ${toOperator("MODEL_BASE_URL")}`, false);
  return unavailable("The model's answer broke off before it was finished. Retry the run.", true);
}

export function toBudgetFailure(limit: "maxTokens" | "maxUsd"): ModelFailure {
  const message = `The step would exceed the budget of the run (${limit}). Retry the run with a larger budget.`;
  return { code: "budget_exhausted", message, retryable: true };
}

export function toLengthFailure(maxBytes: number): ModelFailure {
  const message = `The model's text is longer than ${maxBytes} bytes, the limit of a step's output (run.stepOutput). Ask for a shorter text, or retry the run.`;
  return { code: "payload_too_large", message, retryable: true };
}

export function toSilenceFailure(totalMs: number): ModelFailure {
  return unavailable(`The model's answer was not finished within ${Math.ceil(totalMs / 1000)} s (model.totalMs). ${retryLater}`, true);
}

/** Failure for an error of the client library that occurred after `text` was received. */
export function toModelFailure(error: unknown, text: string): ModelFailure {
  const last = lastOf(error);
  // The stream ended without a finish reason.
  if (InvalidResponseDataError.isInstance(last)) return toEndFailure(undefined, text);
  const status = APICallError.isInstance(last) ? last.statusCode : undefined;
  if (status !== undefined && status >= 400) return toStatusFailure(status);
  const refusal = causesOf(last).find((cause) => cause instanceof ProviderRefusal);
  if (refusal?.isPermanent === true) {
    return unavailable(`The model's endpoint cannot be used: ${refusal.message}. ${toOperator("MODEL_BASE_URL")}`, false);
  }
  return unavailable(`The model's endpoint could not be used: ${refusal?.message ?? toReason(last)}. ${retryLater}`, true);
}

function toStatusFailure(status: number): ModelFailure {
  if (status === 429) {
    const message = `The model's endpoint refuses further requests for now (429). ${retryLater}`;
    return { code: "provider_quota", message, retryable: true };
  }
  if (status === 402) {
    const message = "The account at the model's endpoint has no credit left (402). Add credit to the account, then retry the run.";
    return { code: "provider_quota", message, retryable: true };
  }
  if (status === 401 || status === 403) {
    return unavailable(`The model's endpoint refused the server's credential (${status}). ${toOperator("MODEL_API_KEY")}`, false);
  }
  if (status === 404) {
    return unavailable(
      `The model's endpoint does not know the model or the path (404). ${toOperator("MODEL_BASE_URL and MODEL_NAME")}`,
      false,
    );
  }
  if (status >= 500 || status === 408) return unavailable(`The model's endpoint failed (${status}). ${retryLater}`, true);
  return unavailable(`The model's endpoint refused the request (${status}). ${toOperator("its answer in the log")}`, false);
}

function lastOf(error: unknown): unknown {
  return RetryError.isInstance(error) ? error.lastError : error;
}

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause) causes.push(cause);
  return causes;
}

const reasons: Readonly<Record<string, string>> = {
  UND_ERR_BODY_TIMEOUT: "it sent nothing for too long",
  UND_ERR_HEADERS_TIMEOUT: "it sent nothing for too long",
  UND_ERR_CONNECT_TIMEOUT: "no connection could be opened in time",
  ETIMEDOUT: "no connection could be opened in time",
  ECONNREFUSED: "it refused the connection",
  UND_ERR_SOCKET: "the connection broke off",
  ECONNRESET: "the connection broke off",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the connection broke off",
};

/** True if the connection ended in the middle of an answer. undici's parser sets no error code in this case. */
function isEarlyEnd({ name, message }: Error): boolean {
  return name === "HTTPParserError" && message.includes("Invalid EOF state");
}

function toReason(error: unknown): string {
  // An error that the endpoint reports inside an answer is passed on as is, not as an Error.
  if (!(error instanceof Error)) return "it reported an error in the middle of the answer";
  for (const cause of causesOf(error)) {
    if (isEarlyEnd(cause)) return "the connection broke off";
    const { code } = cause as { readonly code?: unknown };
    const reason = typeof code === "string" ? reasons[code] : undefined;
    if (reason !== undefined) return reason;
  }
  return "its answer could not be read";
}

const maxWords = 300;

/**
 * The endpoint's own error text, for the log. It never contains the key. Undefined for errors that may contain a piece
 * of the answer.
 */
export function toEndpointWords(error: unknown, apiKey: string | undefined): string | undefined {
  const last = lastOf(error);
  const words = APICallError.isInstance(last) ? last.responseBody : last instanceof Error ? undefined : JSON.stringify(last);
  if (words === undefined || words === "") return undefined;
  // Remove the key before the text is cut, because a part of a key is secret too. In JSON the key may be escaped.
  const forms = apiKey === undefined ? [] : [apiKey, JSON.stringify(apiKey).slice(1, -1)];
  return forms.reduce((shown, form) => shown.replaceAll(form, "…"), words).slice(0, maxWords);
}
