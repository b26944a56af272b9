import type { Heading } from "../../editor/index.ts";
import { isOverText } from "./panel/isOverText.ts";
import { PanelFrame } from "./panel/PanelFrame.tsx";

interface OutlinePanelProps {
  readonly headings: readonly Heading[];
  readonly onOpen: (position: number) => void;
  readonly onClose: () => void;
}

/** The headings of the text. Each leads to its place. */
export function OutlinePanel({ headings, onOpen, onClose }: OutlinePanelProps) {
  return (
    <PanelFrame title="Headings" onClose={onClose}>
      {headings.length === 0 ? (
        <p className="p-4 text-sm text-muted">The headings of the text appear here.</p>
      ) : (
        <ol className="p-2">
          {headings.map(({ level, text, position }) => (
            <li key={position} style={{ paddingLeft: `${(level - 1) * 0.75}rem` }}>
              <button
                type="button"
                onClick={() => {
                  onOpen(position);
                  if (isOverText()) onClose();
                }}
                className="w-full truncate rounded-sm px-2 py-1 text-left text-sm text-muted hover:bg-hover hover:text-text"
                dir="auto"
              >
                {text}
              </button>
            </li>
          ))}
        </ol>
      )}
    </PanelFrame>
  );
}
