import type { Heading } from "../../editor/index.ts";
import { IconButton } from "../../ui/button.tsx";
import { CloseIcon } from "../../ui/icons.tsx";
import { isOverText } from "./panel/isOverText.ts";

interface OutlinePanelProps {
  readonly headings: readonly Heading[];
  readonly onOpen: (position: number) => void;
  readonly onClose: () => void;
}

/** The headings of the text. Each leads to its place. */
export function OutlinePanel({ headings, onOpen, onClose }: OutlinePanelProps) {
  return (
    <section aria-labelledby="outline-panel" className="flex h-full flex-col">
      <div className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-2 pl-4">
        <h2 id="outline-panel" className="grow text-sm font-semibold">
          Headings
        </h2>
        <IconButton label="Close the panel" onClick={onClose}>
          <CloseIcon />
        </IconButton>
      </div>
      {headings.length === 0 ? (
        <p className="p-4 text-sm text-muted">The headings of the text appear here.</p>
      ) : (
        <ol className="min-h-0 grow overflow-auto p-2">
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
    </section>
  );
}
