/** Fields for more than a line of text. */
import type { ComponentProps, ReactNode } from "react";
import { controlClass, Field } from "./form.tsx";

type TextAreaProps = Omit<ComponentProps<"textarea">, "children"> & {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly isOptional?: boolean;
};

/** Grows with its text where the browser can do that. */
export function TextArea({ label, hint, fault, isOptional = false, className = "", rows = 3, ...area }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} fault={fault} isOptional={isOptional}>
      {(control) => (
        <textarea
          {...area}
          {...control}
          rows={rows}
          className={`${controlClass} field-sizing-content block h-auto! max-h-96 supports-[field-sizing:content]:resize-none min-h-9 py-1.5 ${className}`}
        />
      )}
    </Field>
  );
}
