/** Fields of forms: a label, a control, a hint, and the fault that the server or the browser found. */
import { type ComponentProps, type ReactNode, useId } from "react";
import { ApiError } from "../../../client/index.ts";
import type { Failure } from "./problem.tsx";

export const controlClass =
  "h-9 w-full rounded-md border border-line-strong/60 bg-bg px-2.5 text-base placeholder:text-faint hover:border-line-strong aria-invalid:border-danger disabled:bg-side disabled:text-muted";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
  readonly isOptional?: boolean;
  readonly children: (control: { id: string; "aria-describedby": string | undefined; "aria-invalid": boolean }) => ReactNode;
}

export function Field({ label, hint, fault, isOptional = false, children }: FieldProps) {
  const id = useId();
  const notes = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter((note) => note !== false);
  return (
    <div className="mb-4">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label} {isOptional && <span className="font-normal text-faint">optional</span>}
      </label>
      {children({ id, "aria-describedby": notes.length === 0 ? undefined : notes.join(" "), "aria-invalid": fault !== undefined })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-xs text-muted">
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} className="mt-1 text-xs text-danger">
          {fault}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, "children"> & Omit<ComponentProps<"input">, "children">;

export function TextField({ label, hint, fault, isOptional, className = "", ...input }: TextFieldProps) {
  return (
    <Field {...{ label, hint, fault }} {...(isOptional === undefined ? {} : { isOptional })}>
      {(control) => <input {...input} {...control} className={`${controlClass} ${className}`} />}
    </Field>
  );
}

/** The messages of the faults by field, from the problem document: `/name` is the field `name`. */
export function faultsOf(error: Failure | null | undefined): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(error.errors.map(({ pointer, message }) => [pointer.slice(1), message]));
}

/** The error unless all its faults belong to fields that show them. */
export function restOf(error: Failure | null | undefined, fields: readonly string[]): Failure | undefined {
  if (error === null || error === undefined) return undefined;
  const isShown =
    error instanceof ApiError && error.errors.length > 0 && error.errors.every(({ pointer }) => fields.includes(pointer.slice(1)));
  return isShown ? undefined : error;
}
