/**
 * Replaces a language model on this machine. It speaks the OpenAI-compatible protocol, counts the requests, and sends
 * prepared texts piece by piece.
 */
import { type ModelAsked, startModelEndpoint } from "../support/modelEndpoint.ts";
import { dictations } from "./text.ts";

export interface AskedStep {
  readonly runId: string;
  readonly stepName: string;
  /** Unix milliseconds. */
  readonly askedAtMs: number;
}

export interface StandIn {
  readonly baseUrl: string;
  readonly asked: readonly AskedStep[];
  close(): Promise<void>;
}

/** The idempotency key of each request contains the run and the step. */
function toStep({ headers, askedAtMs }: ModelAsked): AskedStep {
  const [runId = "", stepName = ""] = String(headers["idempotency-key"]).split("/");
  return { runId, stepName, askedAtMs };
}

/** `pieceMs`: milliseconds between two pieces of the draft. All other texts are sent at once. */
export async function startStandIn(pieceMs: number): Promise<StandIn> {
  const endpoint = await startModelEndpoint();
  endpoint.answer((asked) => {
    const { stepName } = toStep(asked);
    const text = dictations[stepName as keyof typeof dictations];
    if (text === undefined) return { kind: "status", status: 400 };
    return { kind: "text", text, pieceCharacters: 6, ...(stepName === "draft" ? { pieceMs } : {}) };
  });
  return {
    baseUrl: endpoint.baseUrl,
    get asked() {
      return endpoint.asked.map(toStep);
    },
    close: () => endpoint.close(),
  };
}
