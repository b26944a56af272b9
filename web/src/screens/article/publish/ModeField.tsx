import { useId } from "react";
import type { PublicLinkMode } from "../../../../../api/schema/article.ts";

interface ModeFieldProps {
  readonly mode: PublicLinkMode;
  readonly isDisabled: boolean;
  readonly onChange: (mode: PublicLinkMode) => void;
}

const modes = [
  { mode: "live", title: "Live", text: "The page follows every later edit." },
  { mode: "snapshot", title: "Snapshot", text: "The page keeps its text until you update it." },
] as const;

/** Live or Snapshot. */
export function ModeField({ mode, isDisabled, onChange }: ModeFieldProps) {
  const name = useId();
  return (
    <fieldset disabled={isDisabled} className="grid grid-cols-2 gap-2">
      <legend className="sr-only">Mode of the page</legend>
      {modes.map((option) => (
        <label
          key={option.mode}
          className="flex cursor-pointer flex-col gap-0.5 rounded-md border border-line px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-disabled:cursor-default has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-accent"
        >
          <span className="flex items-center gap-2 text-sm font-medium">
            <input
              type="radio"
              name={name}
              checked={option.mode === mode}
              onChange={() => onChange(option.mode)}
              className="accent-(--accent) outline-none"
            />
            {option.title}
          </span>
          <span className="text-xs text-muted">{option.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
