/** Compares a draft with its outline and topic by rules, for servers without a model. It runs in a worker thread. */
import { composerNote } from "./composer.ts";
import type { StepContext } from "./port.ts";
import { readStructure } from "./readStructure.ts";

export interface DraftJudgement {
  readonly verdict: "ready" | "needs_work";
  readonly strengths: readonly string[];
  readonly issues: readonly {
    readonly severity: "low" | "medium" | "high";
    readonly message: string;
    readonly location?: string | undefined;
  }[];
}

export interface DraftToJudge {
  readonly texts: StepContext["texts"];
  readonly mustInclude: readonly string[];
}

const maxIssues = 50;

export function judgeDraft({ texts, mustInclude }: DraftToJudge): DraftJudgement {
  const draft = texts["content.md"];
  const { headings } = readStructure(draft);
  const lower = draft.toLowerCase();
  const outline = texts["outline.md"].match(/^##\s+.+$/gm)?.map((line) => line.replace(/^##\s+/, "").trim()) ?? [];
  const present = new Set(headings.map(({ text }) => text.toLowerCase().replace(/^\d+\.\s*/, "")));
  const issues: DraftJudgement["issues"] = [
    ...(draft.trim() === "" ? [{ severity: "high" as const, message: "There is no draft." }] : []),
    ...(draft.includes(composerNote)
      ? [{ severity: "high" as const, message: "The draft is a composed frame: its sections are not written yet." }]
      : []),
    ...outline
      .filter((heading) => !present.has(heading.toLowerCase()))
      .map((heading) => ({ severity: "medium" as const, message: `The outline's section “${heading}” is not in the draft.` })),
    ...mustInclude
      .filter((item) => !lower.includes(item.toLowerCase()))
      .map((item) => ({ severity: "medium" as const, message: `The draft must include “${item}”, but does not contain it.` })),
  ].slice(0, maxIssues);
  const strengths = outline.length > 0 && issues.length === 0 ? ["Every section of the outline is there."] : [];
  return { verdict: issues.length === 0 ? "ready" : "needs_work", strengths, issues };
}
