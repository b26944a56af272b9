import type { ArticleFile } from "../../../../client/article.ts";

const files: readonly (readonly [ArticleFile, string])[] = [
  ["content.md", "Text"],
  ["outline.md", "Outline"],
  ["research.md", "Research"],
];

interface FileTabsProps {
  readonly file: ArticleFile;
  readonly onChange: (file: ArticleFile) => void;
}

/** The three texts of an article. */
export function FileTabs({ file, onChange }: FileTabsProps) {
  return (
    <fieldset className="flex gap-0.5 rounded-md bg-side p-0.5">
      <legend className="sr-only">File</legend>
      {files.map(([value, label]) => (
        <button
          key={value}
          type="button"
          aria-pressed={file === value}
          title={value}
          onClick={() => onChange(value)}
          className="h-7 rounded-sm px-2.5 text-sm text-muted hover:text-text aria-pressed:bg-bg aria-pressed:font-medium aria-pressed:text-text aria-pressed:shadow-[0_0_0_1px_var(--line)]"
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
