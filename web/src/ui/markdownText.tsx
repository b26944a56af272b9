/** Markdown as readable text: headings stand out, nothing is interpreted further, so no HTML of users reaches the page. */
import { Fragment } from "react";

const sizes = ["text-xl", "text-lg", "text-base"] as const;
/** The text stands below the title of a page and that of a part of it. */
const tags = ["h3", "h4", "h5"] as const;

/** Text between two headings, or one heading. */
interface Part {
  readonly text: string;
  /** 1 to 6 for a heading, 0 for other text. */
  readonly level: number;
}

function toParts(markdown: string): readonly Part[] {
  const parts: { text: string; level: number }[] = [];
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (/^\s{0,3}(```|~~~)/.test(line)) isCode = !isCode;
    const [, marks, title] = (isCode ? null : /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)) ?? [];
    const previous = parts.at(-1);
    if (marks !== undefined) parts.push({ text: title ?? "", level: marks.length });
    else if (previous?.level === 0) previous.text += `\n${line}`;
    else if (line !== "") parts.push({ text: line, level: 0 });
  }
  return parts;
}

function Heading({ level, text }: { readonly level: number; readonly text: string }) {
  const Tag = tags[level - 1] ?? "h6";
  return <Tag className={`mt-5 mb-1.5 font-semibold first:mt-0 ${sizes[level - 1] ?? "text-base"}`}>{text}</Tag>;
}

export function MarkdownText({ text }: { readonly text: string }) {
  return (
    <div dir="auto" className="max-w-(--measure) font-prose text-lg">
      {toParts(text).map(({ text: part, level }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other identity
        <Fragment key={index}>
          {level === 0 ? <p className="mb-3 whitespace-pre-wrap">{part.trimEnd()}</p> : <Heading level={level} text={part} />}
        </Fragment>
      ))}
    </div>
  );
}
