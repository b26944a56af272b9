import { useState } from "react";
import { controlClass, Field } from "../../ui/form.tsx";

interface PasswordFieldProps {
  readonly label: string;
  readonly autoComplete: "current-password" | "new-password";
  readonly hint?: string;
  readonly fault?: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A password that the person can look at while typing. */
export function PasswordField({ label, autoComplete, hint, fault, value, onChange }: PasswordFieldProps) {
  const [isShown, setIsShown] = useState(false);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <div className="relative">
          <input
            {...control}
            type={isShown ? "text" : "password"}
            autoComplete={autoComplete}
            required
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className={`${controlClass} pr-14`}
          />
          <button
            type="button"
            aria-pressed={isShown}
            aria-controls={control.id}
            onClick={() => setIsShown(!isShown)}
            className="absolute top-1 right-1 h-7 rounded-sm px-2 text-xs text-muted hover:bg-hover hover:text-text"
          >
            {isShown ? "Hide" : "Show"}
          </button>
        </div>
      )}
    </Field>
  );
}
