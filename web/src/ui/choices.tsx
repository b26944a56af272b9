/** Fields of forms that choose from given values: one of a few, one of many, or some. */
import { type ReactNode, useId } from "react";
import { controlClass, Field } from "./form.tsx";

interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: ReactNode;
}

interface GroupProps {
  readonly label: string;
  readonly fault?: string | undefined;
  readonly children: ReactNode;
}

function Group({ label, fault, children }: GroupProps) {
  const id = useId();
  return (
    <fieldset className="mb-4" aria-describedby={fault === undefined ? undefined : id}>
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {children}
      {fault !== undefined && (
        <p id={id} className="mt-1 text-xs text-danger">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

interface MarkProps {
  readonly type: "checkbox" | "radio";
  readonly name?: string;
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

function Mark({ type, name, label, hint, isChecked, onChange }: MarkProps) {
  const id = useId();
  return (
    <div className="py-1">
      <label className="flex items-start gap-2 text-sm">
        <input
          type={type}
          name={name}
          checked={isChecked}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={(event) => onChange(event.target.checked)}
          className="mt-1 shrink-0 accent-(--accent)"
        />
        <span className="min-w-0">{label}</span>
      </label>
      {hint !== undefined && (
        <p id={id} className="ml-5.5 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

interface RadioGroupProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly fault?: string | undefined;
  readonly onChange: (value: Value) => void;
}

/** One of a few values, all in view. */
export function RadioGroup<Value extends string>({ label, value, options, fault, onChange }: RadioGroupProps<Value>) {
  const name = useId();
  return (
    <Group label={label} fault={fault}>
      {options.map((option) => (
        <Mark
          key={option.value}
          type="radio"
          name={name}
          label={option.label}
          hint={option.hint}
          isChecked={option.value === value}
          onChange={() => onChange(option.value)}
        />
      ))}
    </Group>
  );
}

interface CheckGroupProps<Value extends string> {
  readonly label: string;
  readonly values: readonly Value[];
  readonly options: readonly Option<Value>[];
  readonly fault?: string | undefined;
  /** In the order of the options. */
  readonly onChange: (values: readonly Value[]) => void;
  /** Below the options, such as a button that reads more of them. */
  readonly children?: ReactNode;
}

/** Some of a few values. */
export function CheckGroup<Value extends string>({ label, values, options, fault, onChange, children }: CheckGroupProps<Value>) {
  return (
    <Group label={label} fault={fault}>
      {options.map(({ value, label: name, hint }) => (
        <Mark
          key={value}
          type="checkbox"
          label={name}
          hint={hint}
          isChecked={values.includes(value)}
          onChange={(isChecked) =>
            onChange(options.map((option) => option.value).filter((other) => (other === value ? isChecked : values.includes(other))))
          }
        />
      ))}
      {children}
    </Group>
  );
}

interface SelectFieldProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly Option<Value>[];
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly onChange: (value: Value) => void;
}

/** One of many values. */
export function SelectField<Value extends string>({ label, value, options, hint, fault, onChange }: SelectFieldProps<Value>) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <select
          {...control}
          className={controlClass}
          value={value}
          onChange={({ target }) => {
            const chosen = options.find((option) => option.value === target.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
