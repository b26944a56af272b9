import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { GateFinding } from "../../../../../api/schema/publicLink.ts";
import { trpc } from "../../../app/data.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { ProblemLine } from "../../../ui/problem.tsx";
import { isOverText } from "../panel/isOverText.ts";
import type { ArticlePanel } from "../panel/panel.ts";
import { toLineStart } from "./lineStart.ts";

interface ChecksProps extends Pick<ArticlePanel, "articleId" | "file" | "doc" | "editor" | "onClose"> {
  /** Errors refuse the publication. */
  readonly isBlocking: boolean;
}

/** Findings that are shown at first. */
const fewFindings = 5;

function toSummary(findings: readonly GateFinding[]): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  const parts = [
    errors > 0 && `${errors} ${errors === 1 ? "error" : "errors"}`,
    warnings > 0 && `${warnings} ${warnings === 1 ? "warning" : "warnings"}`,
  ];
  return parts.filter((part) => part !== false).join(", ");
}

/** What the checks find in the newest text, errors first. Each finding leads to its line. */
export function Checks({ articleId, file, doc, editor, onClose, isBlocking }: ChecksProps) {
  const { data, error } = useQuery(trpc.publicLinks.findings.queryOptions({ articleId }));
  const [showsAll, setShowsAll] = useState(false);
  const findings = data?.findings.toSorted((one, other) => Number(other.severity === "error") - Number(one.severity === "error")) ?? [];
  const shown = showsAll ? findings : findings.slice(0, fewFindings);
  // Lines are those of the public text.
  const canShow = file === "content.md" && editor !== undefined;
  function show(line: number): void {
    if (isOverText()) onClose();
    editor?.goTo(toLineStart(doc.getText(file).toString(), line));
  }
  return (
    <section aria-labelledby="publish-checks" className="border-b border-line p-4">
      <h3 id="publish-checks" className="text-sm font-medium">
        Checks
      </h3>
      {error !== null ? (
        <div className="mt-2 -mb-4">
          <ProblemLine error={error} />
        </div>
      ) : data === undefined ? (
        <span className="skeleton mt-2 block h-3.5 w-2/5" />
      ) : (
        <p className="mt-1 text-sm text-muted">
          {findings.length === 0 ? "The checks found nothing in the newest text." : `${toSummary(findings)} in the newest text.`}
          {isBlocking && findings[0]?.severity === "error" && " An error prevents the publication."}
        </p>
      )}
      <ul className="mt-1">
        {shown.map(({ severity, code, message, line }) => (
          <li key={`${code} ${line} ${message}`} className="flex items-baseline gap-2 py-1 text-sm">
            <Badge tone={severity === "error" ? "danger" : "warn"}>{severity === "error" ? "Error" : "Warning"}</Badge>
            <span className="min-w-0 grow wrap-anywhere">{message}</span>
            {line !== undefined && (
              <button
                type="button"
                disabled={!canShow}
                title={canShow ? "Show in the text" : "Open the text to see this line"}
                onClick={() => show(line)}
                className="shrink-0 rounded-sm text-xs text-accent tabular-nums hover:underline disabled:text-muted disabled:no-underline"
              >
                Line {line}
              </button>
            )}
          </li>
        ))}
      </ul>
      {shown.length < findings.length && (
        <Button weight="quiet" className="-ml-3" onClick={() => setShowsAll(true)}>
          Show all {findings.length}
        </Button>
      )}
    </section>
  );
}
