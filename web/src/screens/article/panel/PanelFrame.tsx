import { type ReactNode, useId } from "react";
import { IconButton } from "../../../ui/button.tsx";
import { CloseIcon } from "../../../ui/icons.tsx";
import { type Failure, ProblemView } from "../../../ui/problem.tsx";

interface PanelFrameProps {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** Stays in place below the title while the rest scrolls. */
  readonly bar?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The frame of a side panel, which fills the place that the screen gives it. Escape closes the panel. */
export function PanelFrame({ title, actions, bar, onClose, children }: PanelFrameProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="flex h-full flex-col"
      onKeyDown={(event) => {
        // Escape in a field would throw away what is being written.
        const isField = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
        if (event.key === "Escape" && !event.defaultPrevented && !isField) onClose();
      }}
    >
      <header className="flex h-11 shrink-0 items-center gap-1 border-b border-line pr-2 pl-4">
        <h2 id={id} className="min-w-0 grow truncate text-sm font-semibold">
          {title}
        </h2>
        {actions}
        <IconButton label="Close the panel" onClick={onClose}>
          <CloseIcon />
        </IconButton>
      </header>
      {bar !== undefined && (
        <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-1.5 border-b border-line px-4 py-1.5">{bar}</div>
      )}
      <div className="min-h-0 grow overflow-auto">{children}</div>
    </section>
  );
}

interface PanelStateProps {
  readonly error: Failure | null;
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
