/** The findings of the publish gate, from the problem document of a refusal. */
import { ApiError } from "../../../../../client/index.ts";

export interface GateFinding {
  /** Position in the list. */
  readonly at: number;
  readonly message: string;
  /** Line of `content.md`, from 1. */
  readonly line: number | undefined;
}

/** Undefined if the error is none of the gate. A message begins with its line: `Line 3: …` (docs/publishing.md). */
export function toFindings(error: Error | null): readonly GateFinding[] | undefined {
  if (!(error instanceof ApiError) || error.code !== "gate_failed") return undefined;
  return error.errors.map((fault, at) => {
    const [, line, rest] = /^Line (\d+): (.*)$/s.exec(fault.message) ?? [];
    return { at, message: rest ?? fault.message, line: line === undefined ? undefined : Number(line) };
  });
}

/** Offset of the first character of a line; the end of the text if it has fewer lines. */
export function toLineStart(text: string, line: number): number {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return start;
}
