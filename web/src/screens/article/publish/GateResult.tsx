import { restOf } from "../../../ui/form.tsx";
import { ProblemLine } from "../../../ui/problem.tsx";
import type { ArticlePanel } from "../panel.ts";
import { toFindings, toLineStart } from "./findings.ts";

interface GateResultProps extends Pick<ArticlePanel, "file" | "doc" | "editor"> {
  readonly error: Error | null;
  /** Findings of a text that was published all the same. */
  readonly findings: number | undefined;
}

/** What the last change of the page led to: errors of the text that refused it, or the number of findings that did not. */
export function GateResult({ error, findings, file, doc, editor }: GateResultProps) {
  const refusals = toFindings(error);
  const shown = restOf(error, ["slug", "expiresAt", "gate"]);
  if (shown === undefined) {
    if (error !== null || findings === undefined) return null;
    return (
      <p role="status" className={`mx-4 mt-4 rounded-md px-3 py-2 text-sm ${findings === 0 ? "bg-ok-soft text-ok" : "bg-warn-soft text-warn"}`}>
        {findings === 0
          ? "Published. The checks found nothing."
          : `Published. The checks found ${findings === 1 ? "1 thing" : `${findings} things`} that did not prevent it.`}
      </p>
    );
  }
  return (
    <div className="mx-4 mt-4">
      <ProblemLine error={shown} />
      {refusals !== undefined && (
        <ul aria-label="Errors in the text" className="-mt-2 mb-4">
          {refusals.map(({ at, message, line }) => (
            <li key={at} className="flex gap-2 border-b border-line py-1.5 text-sm">
              {line !== undefined && (
                <button
                  type="button"
                  disabled={file !== "content.md" || editor === undefined}
                  title={file === "content.md" ? "Show in the text" : "Open the text to see this line"}
                  onClick={() => editor?.goTo(toLineStart(doc.getText(file).toString(), line))}
                  className="shrink-0 self-start rounded-sm text-accent tabular-nums hover:underline disabled:text-muted disabled:no-underline"
                >
                  Line {line}
                </button>
              )}
              <span className="min-w-0 wrap-anywhere">{message}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
