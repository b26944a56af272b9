interface ChoiceProps<Value extends string> {
  /** The accessible name. */
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

/** A few options in a row, of which one is chosen. */
export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <fieldset className="inline-flex rounded-md bg-hover p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className="h-6.5 rounded-sm px-2.5 text-xs font-medium whitespace-nowrap text-muted hover:text-text aria-pressed:bg-raised aria-pressed:text-text"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
