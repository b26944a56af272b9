import type { ReactNode } from "react";
import { IconButton } from "../../ui/button.tsx";
import { CloseIcon } from "../../ui/icons.tsx";
import { ProblemView } from "../../ui/problem.tsx";

interface PanelFrameProps {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** Stays in place below the title while the rest scrolls. */
  readonly bar?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The frame of a side panel: beside the text on wide windows, over it on narrow ones. Escape closes it. */
export function PanelFrame({ title, actions, bar, onClose, children }: PanelFrameProps) {
  return (
    <aside
      aria-label={title}
      className="flex h-full w-95 shrink-0 flex-col border-l border-line bg-bg max-lg:fixed max-lg:inset-y-0 max-lg:right-0 max-lg:z-20 max-lg:shadow-float max-sm:w-full max-sm:border-l-0"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
    >
      <header className="flex h-12 shrink-0 items-center gap-1.5 border-b border-line pr-2.5 pl-4">
        <h2 className="min-w-0 grow truncate text-base font-semibold">{title}</h2>
        {actions}
        <IconButton label={`Close ${title.toLowerCase()}`} onClick={onClose}>
          <CloseIcon />
        </IconButton>
      </header>
      {bar !== undefined && <div className="flex shrink-0 flex-wrap items-center gap-1.5 border-b border-line px-4 py-2">{bar}</div>}
      <div className="min-h-0 grow overflow-auto">{children}</div>
    </aside>
  );
}

interface PanelStateProps {
  readonly error: Error | null;
  readonly onRetry: () => void;
  /** What is being read, for screen readers. */
  readonly label: string;
}

const loadingRows = 5;

/** Takes the place of the content until it is read: the error, or rows of about its size. */
export function PanelState({ error, onRetry, label }: PanelStateProps) {
  if (error !== null) return <ProblemView error={error} onRetry={onRetry} />;
  return (
    <ul aria-label={`Loading ${label}`} aria-busy="true">
      {Array.from({ length: loadingRows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other identity
        <li key={index} className="flex flex-col gap-2 border-b border-line px-4 py-3.5">
          <span className="skeleton h-3.5 w-1/2" />
          <span className="skeleton h-3 w-4/5" />
        </li>
      ))}
    </ul>
  );
}
