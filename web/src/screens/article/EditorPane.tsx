import { useEffect, useRef } from "react";
import type { ArticleFile, Article as LiveArticle } from "../../../../client/article.ts";
import { createEditor, type Editor, type EditorOptions } from "../../editor/index.ts";
import { colourOf } from "../../ui/avatar.tsx";

interface EditorPaneProps extends Pick<EditorOptions, "onStatistics" | "onOutline" | "onMark"> {
  readonly live: LiveArticle;
  readonly file: ArticleFile;
  readonly isReadOnly: boolean;
  /** Called with the editor once it is there, and with undefined before it goes. */
  readonly onEditor: (editor: Editor | undefined) => void;
}

const placeholders: Record<ArticleFile, string> = {
  "content.md": "Write…",
  "outline.md": "Headings and what each part will say",
  "research.md": "Sources, figures, quotations",
};

export function EditorPane({ live, file, isReadOnly, onEditor, onStatistics, onOutline, onMark }: EditorPaneProps) {
  const place = useRef<HTMLDivElement>(null);
  const made = useRef<Editor>(undefined);
  const listeners = useRef({ onEditor, onStatistics, onOutline, onMark });
  listeners.current = { onEditor, onStatistics, onOutline, onMark };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the next effect passes isReadOnly on
  useEffect(() => {
    if (place.current === null) return;
    const editor = createEditor({
      parent: place.current,
      text: live.text(file),
      awareness: live.awareness,
      readOnly: isReadOnly,
      placeholder: placeholders[file],
      colourOf,
      ariaLabel: `Text of ${file}`,
      onStatistics: (statistics) => listeners.current.onStatistics?.(statistics),
      onOutline: (headings) => listeners.current.onOutline?.(headings),
      onMark: (id) => listeners.current.onMark?.(id),
    });
    made.current = editor;
    listeners.current.onEditor(editor);
    return () => {
      listeners.current.onEditor(undefined);
      made.current = undefined;
      editor.destroy();
    };
  }, [live, file]);

  useEffect(() => made.current?.setReadOnly(isReadOnly), [isReadOnly]);

  return <div ref={place} className="h-full overflow-auto" />;
}
