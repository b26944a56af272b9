/**
 * What an edit request means for a text: its refusals, and what is to be written where.
 *
 * Pure but for the pauses it makes between the steps of a long patch. The base is the text the caller read; `merge`
 * carries the result onto the live one later, when the document is held still.
 */
import type { EditRequest, EditResponse } from "../../api/schema/article.ts";
import { AppError, type ProblemFinding } from "../../api/schema/error.ts";
import { requireAccepted, requireFits, tooLarge } from "./acceptedText.ts";
import { createBreath } from "./breathe.ts";
import { carryOver, type TextOperation } from "./merge.ts";
import { diffTexts } from "./textDiff.ts";
import { applyTextEdit } from "./textEdit.ts";

export interface EditPlan {
  /** The text the edit was worked out against. */
  readonly base: string;
  /** Number of edits that will be applied. */
  readonly applied: number;
  readonly rejected: EditResponse["rejected"];
  /** Operations that carry the edit onto the live text. */
  onto(live: string): readonly TextOperation[];
}

/** Refuses what could not go into any document, whatever it holds. */
export function checkEditRequest(request: EditRequest, maxFileBytes: number): void {
  if (request.mode === "replace" && request.baseRevision === undefined) {
    const detail = "Replacing a file needs 'baseRevision', the revision that was read, so that newer text is merged and not lost.";
    throw new AppError("precondition_required", detail);
  }
  if (request.content !== undefined) {
    requireAccepted(request.content, "content");
    requireFits(request.content, maxFileBytes);
  }
  for (const [index, { find, replace, prefix = "", suffix = "" }] of (request.edits ?? []).entries()) {
    requireAccepted(replace, `edits[${index}].replace`);
    requireAccepted(prefix + find + suffix, `edits[${index}].find`);
  }
}

export async function planEdit(request: EditRequest, base: string, maxFileBytes: number): Promise<EditPlan> {
  const { mode, content = "" } = request;
  switch (mode) {
    case "append":
      return { base, applied: 1, rejected: [], onto: (live) => insertion(live.length, content) };
    case "prepend":
      return { base, applied: 1, rejected: [], onto: () => insertion(0, content) };
    case "replace":
      return { base, applied: 1, rejected: [], onto: toCarrying(base, content) };
    case "patch":
      return planPatch(request, base, maxFileBytes);
  }
}

function toCarrying(base: string, written: string): EditPlan["onto"] {
  const mine = diffTexts(base, written);
  return (live) => carryOver(base, mine, live);
}

function insertion(at: number, insert: string): readonly TextOperation[] {
  return insert === "" ? [] : [{ at, insert, remove: 0 }];
}

/** Each edit sees what those before it wrote; what is not found is reported and the others go on. */
async function planPatch({ edits = [] }: EditRequest, base: string, maxFileBytes: number): Promise<EditPlan> {
  const breathe = createBreath();
  const rejected: { index: number; code: "anchor_not_found" | "anchor_ambiguous"; detail: string }[] = [];
  let text = base;
  for (const [index, edit] of edits.entries()) {
    const outcome = applyTextEdit(text, edit, maxFileBytes);
    if (outcome.kind === "too_large") throw tooLarge(maxFileBytes);
    if (outcome.kind === "edited") text = outcome.text;
    else rejected.push({ index, code: outcome.code, detail: outcome.detail });
    await breathe();
  }
  const [first] = rejected;
  if (first !== undefined && rejected.length === edits.length) {
    const errors = rejected.map(({ index, code, detail }): ProblemFinding => ({ pointer: `/edits/${index}/find`, code, message: detail }));
    throw new AppError(first.code, "None of the edits could be applied; nothing was changed.", { errors });
  }
  return { base, applied: edits.length - rejected.length, rejected, onto: toCarrying(base, text) };
}
