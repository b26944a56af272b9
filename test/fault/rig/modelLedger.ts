/**
 * The model of the rig, and its book: whoever asks is given a text with a value that was never given before, piece by
 * piece, and everything that was asked is kept. Later steps quote the values of earlier ones in what they ask, so a
 * value that changed, and a step that ran again after it had finished, show here, outside of everything that can be killed.
 */
import { randomUUID } from "node:crypto";
import type { ModelAsked } from "../../support/modelEndpoint.ts";
import type { Rig } from "./rig.ts";

export interface Asking {
  readonly runId: string;
  readonly stepName: string;
  readonly node: number;
  readonly value: string;
  /** Values of other askings that stand in the question. */
  readonly quoted: readonly string[];
  readonly askedAtMs: number;
}

export interface ModelLedger {
  /** In the order of asking. */
  readonly askings: readonly Asking[];
  of(runId: string): readonly Asking[];
}

const valuePattern = /value-[0-9a-f]{12}/g;

/** The values that stand in a text, each once. */
export const valuesIn = (text: string): readonly string[] => [...new Set(text.match(valuePattern) ?? [])];

/** `pieces` of a step's text, and the time between two of them. */
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
    // A review is JSON of one shape; of its strengths no more than 20 are taken.
    const text =
      stepName === "review"
        ? JSON.stringify({ verdict: "ready", strengths: said.slice(0, 20), issues: [] })
        : `# A text\n\n${said.map((line) => `${line}\n`).join("")}`;
    return { kind: "text", text, pieceCharacters: piece.length + 1, pieceMs };
  });
  return { askings, of: (runId) => byRun.get(runId) ?? [] };
}
