/** Controls of the second bar of a screen: which part of a list is shown. */
import { useEffect, useEffectEvent, useState } from "react";
import { SearchIcon } from "./icons.tsx";

interface Option {
  readonly value: string;
  readonly label: string;
  /** Shown behind the label. */
  readonly count?: number | undefined;
}

interface ChoiceProps {
  /** What is chosen, for people who do not see the options side by side. */
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}

const counts = new Intl.NumberFormat();

/** A few options side by side, of which one is chosen. */
export function Segments({ label, value, options, onChange }: ChoiceProps) {
  return (
    <fieldset className="flex max-w-full min-w-0 items-center gap-0.5 overflow-x-auto">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="h-8 shrink-0 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-text aria-pressed:bg-active aria-pressed:font-medium aria-pressed:text-text"
        >
          {option.label}
          {option.count !== undefined && <span className="ml-1.5 text-xs font-normal text-faint">{counts.format(option.count)}</span>}
        </button>
      ))}
    </fieldset>
  );
}

/** Options that do not fit side by side. */
export function FilterSelect({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className="h-8 max-w-44 rounded-md border border-line bg-bg px-2 text-sm text-muted hover:border-line-strong"
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** The list changes when nothing was typed for this long. */
const settleMs = 250;

interface SearchFieldProps {
  readonly label: string;
  /** The text that the list shows now. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const change = useEffectEvent(onChange);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => change(typed.trim()), settleMs);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <div className="relative min-w-40 grow sm:max-w-72">
      <SearchIcon className="pointer-events-none absolute top-2 left-2 text-faint" />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        maxLength={200}
        onChange={(event) => setTyped(event.target.value)}
        className="h-8 w-full rounded-md border border-line bg-bg pr-2 pl-8 text-sm placeholder:text-faint hover:border-line-strong"
      />
    </div>
  );
}
