/**
 * Validates edit requests and computes the operations that apply an edit to the live text.
 *
 * The base is the text that the caller read. The difference between the base and the edited text is merged into the live
 * text. The module is pure and synchronous, because articleTexts.ts runs it in a worker thread for a long text.
 */
import type { EditRequest, EditResponse } from "../../../api/schema/article.ts";
import { AppError, type ProblemFinding } from "../../../api/schema/error.ts";
import { requireAccepted, requireFits, tooLarge } from "../call/acceptedText.ts";
import { toContentHash } from "./fileTexts.ts";
import { applyOperations, carryOver, joinNearest, type PackedOperations, packOperations, type TextOperation } from "./merge.ts";
import { diffTexts } from "./textDiff.ts";
import { applyTextEdit } from "./textEdit.ts";

/**
 * Most places that one edit may write to. They are applied in one Yjs transaction, which cannot be split and takes time
 * proportional to the square of their number: 9 ms for 2,000 places, more than a second for 30,000.
 */
const maxPlaces = 2000;

export interface EditTask {
  readonly request: Pick<EditRequest, "mode" | "content" | "edits">;
  /** The text that the caller read. */
  readonly base: string;
  /** The current text, which the edit changes. */
  readonly live: string;
  readonly maxFileBytes: number;
}

export interface PlannedEdit {
  /** Ascending operations on the live text. Offsets refer to the text before any operation. */
  readonly operations: readonly TextOperation[];
  /** The operations before they were joined; absent when there were few enough. Edits made meanwhile are merged with these. */
  readonly apart?: PackedOperations;
  /** Hash of the text with the operations applied. */
  readonly contentHash: string;
  /** Number of edits that are applied. */
  readonly applied: number;
  readonly rejected: EditResponse["rejected"];
}

/** Throws for a request that is invalid for every document: no base revision for a replacement, or text that is not accepted. */
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

/** Plans the edit. Throws when no part of it applies to the base, or when the result is larger than a file may be. */
export function planEdit({ request, base, live, maxFileBytes }: EditTask): PlannedEdit {
  const { mode, content = "" } = request;
  switch (mode) {
    case "append":
      return finish(live, insertion(live.length, content), maxFileBytes, { applied: 1, rejected: [] });
    case "prepend":
      return finish(live, insertion(0, content), maxFileBytes, { applied: 1, rejected: [] });
    case "replace":
      return finish(live, carryOver(base, diffTexts(base, content), live), maxFileBytes, { applied: 1, rejected: [] });
    case "patch": {
      const { text, ...outcome } = patch(request, base, maxFileBytes);
      return finish(live, carryOver(base, diffTexts(base, text), live), maxFileBytes, outcome);
    }
  }
}

/** Makes the plan from its operations. Throws `content_too_large` when the result is larger than a file may be. */
export function finish(
  live: string,
  operations: readonly TextOperation[],
  maxFileBytes: number,
  outcome: Pick<PlannedEdit, "applied" | "rejected">,
): PlannedEdit {
  const text = applyOperations(live, operations);
  requireFits(text, maxFileBytes);
  const { applied, rejected } = outcome;
  const joined = joinNearest(live, operations, maxPlaces);
  const apart = operations.length > maxPlaces ? { apart: packOperations(operations) } : {};
  return { operations: joined, ...apart, contentHash: toContentHash(text), applied, rejected };
}

function insertion(at: number, insert: string): readonly TextOperation[] {
  return insert === "" ? [] : [{ at, insert, remove: 0 }];
}

/** Applies the edits one after the other, each to the result of the previous. An edit without a match is rejected; the others apply. */
function patch({ edits = [] }: EditTask["request"], base: string, maxFileBytes: number) {
  const rejected: { index: number; code: "anchor_not_found" | "anchor_ambiguous"; detail: string }[] = [];
  let text = base;
  for (const [index, edit] of edits.entries()) {
    const outcome = applyTextEdit(text, edit, maxFileBytes);
    if (outcome.kind === "too_large") throw tooLarge(maxFileBytes);
    if (outcome.kind === "edited") text = outcome.text;
    else rejected.push({ index, code: outcome.code, detail: outcome.detail });
  }
  const [first] = rejected;
  if (first !== undefined && rejected.length === edits.length) {
    const errors = rejected.map(({ index, code, detail }): ProblemFinding => ({ pointer: `/edits/${index}/find`, code, message: detail }));
    throw new AppError(first.code, "None of the edits could be applied; nothing was changed.", { errors });
  }
  return { text, applied: edits.length - rejected.length, rejected };
}
