import type { ArticleDiff } from "../../../../../api/schema/article.ts";
import { type DiffHunk, type DiffLine, type DiffPart, toRows } from "./diffRows.ts";

/** Returns the items with their positions, as keys of elements that never move. */
function numbered<Item>(items: readonly Item[]): readonly { readonly at: number; readonly item: Item }[] {
  return items.map((item, at) => ({ at, item }));
}

export function DiffText({ parts }: { readonly parts: readonly DiffPart[] }) {
  return numbered(parts).map(({ at, item: { op, text } }) => {
    if (op === "insert") {
      return (
        <ins key={at} className="rounded-sm bg-ok-soft text-ok no-underline">
          {text}
        </ins>
      );
    }
    if (op === "delete") {
      return (
        <del key={at} className="rounded-sm bg-danger-soft text-danger">
          {text}
        </del>
      );
    }
    return <span key={at}>{text}</span>;
  });
}

function placeOf({ fromLine, toLine }: DiffHunk): string {
  return fromLine === toLine ? `Line ${toLine}` : `Line ${fromLine}, now ${toLine}`;
}

interface DiffProps {
  /** In the format `words`. */
  readonly diff: ArticleDiff;
}

/** Added and removed words in the run of the text. */
export function InlineDiff({ diff }: DiffProps) {
  return (
    <div className="flex flex-col gap-3">
      {diff.hunks.map((hunk) => (
        <section key={`${hunk.fromLine} ${hunk.toLine}`} className="overflow-hidden rounded-md border border-line">
          <h4 className="border-b border-line bg-side px-3 py-1 text-xs text-muted">{placeOf(hunk)}</h4>
          <div dir="auto" className="px-3 py-2 text-sm wrap-anywhere whitespace-pre-wrap">
            <DiffText parts={hunk.changes ?? []} />
          </div>
        </section>
      ))}
    </div>
  );
}

/** The earlier text on the left, the later one on the right. */
export function SideBySideDiff({ diff, before, after }: DiffProps & { readonly before: string; readonly after: string }) {
  return (
    <div className="overflow-auto rounded-md border border-line">
      <table className="w-full min-w-160 table-fixed border-collapse text-sm">
        <colgroup>
          <col className="w-10" />
          <col />
          <col className="w-10" />
          <col />
        </colgroup>
        <thead className="bg-side text-left text-xs text-muted">
          <tr>
            <th scope="col" colSpan={2} className="px-3 py-1.5 font-medium">
              {before}
            </th>
            <th scope="col" colSpan={2} className="border-l border-line px-3 py-1.5 font-medium">
              {after}
            </th>
          </tr>
        </thead>
        {diff.hunks.map((hunk) => (
          <tbody key={`${hunk.fromLine} ${hunk.toLine}`} className="border-t border-line">
            {numbered(toRows(hunk)).map(({ at, item: row }) => (
              <tr key={at} className="align-top">
                <Cells line={row.before} op="delete" isAlone={row.after === undefined} />
                <Cells line={row.after} op="insert" isAlone={row.before === undefined} />
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

interface CellsProps {
  readonly line: DiffLine | undefined;
  /** What happened to words that only this side has. */
  readonly op: "insert" | "delete";
  /** The other side has no such line. */
  readonly isAlone: boolean;
}

/** A line of one side. A line that was removed or added as a whole has its colour from edge to edge. */
function Cells({ line, op, isAlone }: CellsProps) {
  const edge = op === "insert" ? "border-l border-line" : "";
  if (line === undefined) return <td colSpan={2} className={`bg-side ${edge}`} />;
  const isWhole = isAlone || (line.parts.length > 0 && line.parts.every((part) => part.op === op));
  const colour = isWhole ? (op === "insert" ? "bg-ok-soft" : "bg-danger-soft") : "";
  return (
    <>
      <td className={`px-2 py-0.5 text-right text-xs text-muted tabular-nums select-none ${edge} ${colour}`}>{line.number}</td>
      <td dir="auto" className={`px-2 py-0.5 wrap-anywhere whitespace-pre-wrap ${colour}`}>
        <DiffText parts={line.parts} />
      </td>
    </>
  );
}

/** Text such as `12 lines added, 3 removed`. */
export function toStatsText({ added, removed }: ArticleDiff["stats"]): string {
  if (added === 0 && removed === 0) return "No lines differ";
  const lines = (count: number) => (count === 1 ? "1 line" : `${count.toLocaleString()} lines`);
  if (removed === 0) return `${lines(added)} added`;
  return added === 0 ? `${lines(removed)} removed` : `${lines(added)} added, ${removed.toLocaleString()} removed`;
}
