/** A dialog for a value that the server shows only once, such as a key. */
import { type ReactNode, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { controlClass, Field } from "./form.tsx";
import { CheckIcon, CopyIcon } from "./icons.tsx";

interface SecretDialogProps {
  readonly title: string;
  /** What the value is. */
  readonly label: string;
  readonly value: string;
  /** What to do with the value. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

const messages = {
  copied: "Copied.",
  selected: "The browser did not allow copying. The value is selected: copy it with the keyboard.",
  warned: "The value was not copied yet. Close again to go on without it.",
};

/** Closing it before the value was copied needs a second request, because a click beside the dialog would lose the value. */
export function SecretDialog({ title, label, value, children, onClose }: SecretDialogProps) {
  const field = useRef<HTMLInputElement>(null);
  const [state, setState] = useState<keyof typeof messages>();

  async function copy() {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(value);
      setState("copied");
    } catch {
      // Browsers have no clipboard for pages over plain HTTP.
      setState("selected");
    }
  }

  function close() {
    if (state === "copied" || state === "warned") onClose();
    else setState("warned");
  }

  return (
    <Dialog title={title} lead="It will not be shown again. Copy it now and keep it in a safe place." isOpen onClose={close}>
      <Field label={label}>
        {(control) => (
          <div className="flex gap-2">
            <input
              {...control}
              ref={field}
              readOnly
              value={value}
              spellCheck={false}
              onFocus={(event) => event.target.select()}
              onCopy={() => setState("copied")}
              className={`${controlClass} min-w-0 font-mono text-sm`}
            />
            <Button weight="primary" className="h-9" autoFocus onClick={() => void copy()}>
              {state === "copied" ? <CheckIcon /> : <CopyIcon />} Copy
            </Button>
          </div>
        )}
      </Field>
      {children !== undefined && <div className="text-sm text-muted">{children}</div>}
      <div className="mt-5 flex items-center justify-between gap-3">
        <p role="status" className={`text-sm ${state === "copied" ? "text-ok" : "text-warn"}`}>
          {state !== undefined && messages[state]}
        </p>
        <Button onClick={close}>{state === "warned" ? "Close without it" : "Done"}</Button>
      </div>
    </Dialog>
  );
}
