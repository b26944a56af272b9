import { type KeyboardEvent, useId, useRef, useState } from "react";
import { Avatar } from "../../../ui/avatar.tsx";
import { handleAt, matchNames } from "./mentions.ts";

interface MentionFieldProps {
  /** The accessible name. */
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  /** The accounts that can be mentioned. */
  readonly people: readonly string[];
  readonly hasFocus?: boolean;
  readonly onChange: (value: string) => void;
  /** Ctrl or ⌘ and Enter. */
  readonly onSubmit: () => void;
}

const mostNames = 6;

/** A text in which `@` offers the people of the workspace. Arrows choose, Enter or Tab completes, Escape closes the list. */
export function MentionField({ label, placeholder, value, people, hasFocus = false, onChange, onSubmit }: MentionFieldProps) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  /** Position of the `@` whose list was closed. */
  const [closedAt, setClosedAt] = useState<number>();
  const handle = handleAt(value, caret);
  const names = handle === undefined || handle.start === closedAt ? [] : matchNames(people, handle.query, mostNames);
  const active = Math.min(chosen, names.length - 1);

  function complete(name: string): void {
    if (handle === undefined) return;
    const completed = `${value.slice(0, handle.start)}@${name} `;
    onChange(completed + value.slice(caret));
    setCaret(completed.length);
    setChosen(0);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(completed.length, completed.length);
    });
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onSubmit();
      return;
    }
    const name = names[active];
    if (name === undefined) return;
    if (event.key === "ArrowDown") setChosen((active + 1) % names.length);
    else if (event.key === "ArrowUp") setChosen((active + names.length - 1) % names.length);
    else if (event.key === "Enter" || event.key === "Tab") complete(name);
    else if (event.key === "Escape") setClosedAt(handle?.start);
    else return;
    event.preventDefault();
  }

  return (
    <div className="relative">
      <textarea
        ref={field}
        aria-label={label}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={names.length > 0 ? id : undefined}
        aria-activedescendant={names.length > 0 ? `${id}-${active}` : undefined}
        placeholder={placeholder}
        // biome-ignore lint/a11y/noAutofocus: the field opens because the person asked to write
        autoFocus={hasFocus}
        dir="auto"
        rows={3}
        value={value}
        onChange={({ target }) => {
          onChange(target.value);
          setCaret(target.selectionStart);
          setChosen(0);
          setClosedAt(undefined);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onBlur={() => setClosedAt(handle?.start)}
        onKeyDown={onKeyDown}
        className="field-sizing-content block max-h-60 min-h-16 w-full resize-none rounded-md border border-line-strong/60 bg-bg px-2.5 py-1.5 text-sm placeholder:text-faint hover:border-line-strong"
      />
      {names.length > 0 && (
        <div
          id={id}
          role="listbox"
          aria-label="People"
          className="absolute top-full right-0 left-0 z-10 mt-1 overflow-hidden rounded-md border border-line bg-raised p-1 shadow-float"
        >
          {names.map((name, at) => (
            <div
              key={name}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === active}
              onPointerDown={(event) => {
                // The field keeps the focus.
                event.preventDefault();
                complete(name);
              }}
              className="flex h-8 items-center gap-2 rounded-sm px-2 text-sm aria-selected:bg-hover"
            >
              <Avatar username={name} size="small" />
              {name}
            </div>
          ))}
        </div>
      )}
      <span aria-live="polite" className="sr-only">
        {names.length > 0 && `${names.length === 1 ? "1 person matches" : `${names.length} people match`}, use the arrow keys`}
      </span>
    </div>
  );
}
