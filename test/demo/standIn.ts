/**
 * A stand-in for a language model, on this machine: it speaks the protocol of the OpenAI-compatible endpoints, counts
 * what it is asked, and dictates prepared texts piece by piece. It understands nothing.
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

/** The server tells each request's key: run, step, and what is asked. */
function toStep({ headers, askedAtMs }: ModelAsked): AskedStep {
  const [runId = "", stepName = ""] = String(headers["idempotency-key"]).split("/");
  return { runId, stepName, askedAtMs };
}

/** `pieceMs`: from one piece of the draft to the next; everything else comes at once. */
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
