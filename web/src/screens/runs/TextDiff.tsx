import type { ArticleDiff } from "../../../../api/schema/article.ts";

const looks: Readonly<Record<string, string>> = { "+": "bg-ok-soft text-ok", "-": "bg-danger-soft text-danger" };

/** The lines that differ, with `+` and `-` before them. */
export function TextDiff({ diff }: { readonly diff: ArticleDiff }) {
  if (diff.hunks.length === 0) return <p className="text-sm text-muted">The text is the same as before.</p>;
  return (
    <div className="overflow-x-auto rounded-md border border-line">
      {diff.hunks.map(({ fromLine, toLine, text = "" }) => (
        <section key={`${fromLine} ${toLine}`} className="border-b border-line last:border-0">
          <p className="bg-side px-3 py-1 text-xs text-muted">From line {toLine}</p>
          <pre dir="auto" className="font-mono text-xs leading-5 whitespace-pre-wrap">
            {text
              .replace(/\n$/, "")
              .split("\n")
              .filter((line) => !line.startsWith("@@ "))
              .map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
                <span key={index} className={`block px-3 ${looks[line.charAt(0)] ?? "text-muted"}`}>
                  {line}
                </span>
              ))}
          </pre>
        </section>
      ))}
    </div>
  );
}
