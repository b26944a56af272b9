import { type ReactNode, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { type Failure, ProblemLine } from "../../../ui/problem.tsx";
import { MentionField } from "./MentionField.tsx";

interface TextFormProps {
  /** The accessible name of the field. */
  readonly label: string;
  readonly placeholder?: string;
  /** The label of the button. */
  readonly action: string;
  readonly people: readonly string[];
  readonly initial?: string;
  readonly hasFocus?: boolean;
  /** The text may be blank. */
  readonly isOptional?: boolean;
  /** Further fields, above the text. */
  readonly children?: ReactNode;
  readonly isBusy: boolean;
  readonly error: Failure | null;
  readonly onSend: (text: string) => void;
  readonly onCancel?: () => void;
}

/** Writes a comment, a reply or the change of one. */
export function TextForm(props: TextFormProps) {
  const {
    label,
    placeholder,
    action,
    people,
    initial = "",
    hasFocus,
    isOptional = false,
    children,
    isBusy,
    error,
    onSend,
    onCancel,
  } = props;
  const [text, setText] = useState(initial);
  const canSend = !isBusy && (isOptional || text.trim() !== "");
  const send = () => {
    if (canSend) onSend(text);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {children}
      <MentionField
        {...{ label, people }}
        {...(placeholder === undefined ? {} : { placeholder })}
        {...(hasFocus === undefined ? {} : { hasFocus })}
        value={text}
        onChange={setText}
        onSubmit={send}
      />
      {error !== null && (
        <div className="-mb-3">
          <ProblemLine error={error} />
        </div>
      )}
      <div className="flex justify-end gap-2">
        {onCancel !== undefined && (
          <Button weight="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" weight="primary" isBusy={isBusy} disabled={!canSend}>
          {action}
        </Button>
      </div>
    </form>
  );
}
