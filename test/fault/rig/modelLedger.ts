/**
 * The rig's model and its ledger. Each request gets a text with a unique value, piece by piece, and the ledger keeps
 * all requests. Later steps quote the values of earlier ones. Therefore a changed value, and a step that ran again
 * after it had finished, are visible here, outside of all processes that can be killed.
 */
import { randomUUID } from "node:crypto";
import type { ModelAsked } from "../../support/modelEndpoint.ts";
import type { Rig } from "./rig.ts";

export interface Asking {
  readonly runId: string;
  readonly stepName: string;
  readonly node: number;
  readonly value: string;
  /** Values of other requests that the question contains. */
  readonly quoted: readonly string[];
  readonly askedAtMs: number;
}

export interface ModelLedger {
  /** Requests in order. */
  readonly askings: readonly Asking[];
  of(runId: string): readonly Asking[];
}

const valuePattern = /value-[0-9a-f]{12}/g;

/** Returns the different values in a text. */
export const valuesIn = (text: string): readonly string[] => [...new Set(text.match(valuePattern) ?? [])];

/** `pace` returns the number of pieces of a step's text and the time between two pieces. */
export function keepModelLedger(rig: Rig, pace: (stepName: string) => { readonly pieces: number; readonly pieceMs: number }): ModelLedger {
  const askings: Asking[] = [];
  const byRun = new Map<string, Asking[]>();
  rig.model.answer(({ path, headers, prompt, askedAtMs }: ModelAsked) => {
    const [runId = "", stepName = ""] = String(headers["idempotency-key"]).split("/");
    const value = `value-${randomUUID().replaceAll("-", "").slice(0, 12)}`;
    const asking: Asking = { runId, stepName, node: Number(path.split("/")[1]), value, quoted: valuesIn(prompt), askedAtMs };
    askings.push(asking);
    byRun.set(runId, [...(byRun.get(runId) ?? []), asking]);
    const { pieces, pieceMs } = pace(stepName);
    const piece = `Of the step ${stepName}: ${value}. `.padEnd(60, "x");
    const said = Array.from({ length: pieces }, () => piece);
    // A review is JSON with a fixed shape; at most 20 of its strengths are kept.
    const text =
      stepName === "review"
        ? JSON.stringify({ verdict: "ready", strengths: said.slice(0, 20), issues: [] })
        : `# A text\n\n${said.map((line) => `${line}\n`).join("")}`;
    return { kind: "text", text, pieceCharacters: piece.length + 1, pieceMs };
  });
  return { askings, of: (runId) => byRun.get(runId) ?? [] };
}
