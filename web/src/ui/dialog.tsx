/** Dialogs: a window over the page that keeps the focus, and the question before an action that cannot be undone. */
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ApiError } from "../../../client/index.ts";
import { Button, IconButton } from "./button.tsx";
import { CloseIcon } from "./icons.tsx";
import { ProblemLine } from "./problem.tsx";

interface DialogProps {
  readonly title: string;
  /** What the dialog is for, below the title. */
  readonly lead?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** As wide as the window allows. */
  readonly isFull?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, lead, isOpen, onClose, isWide = false, isFull = false, children }: DialogProps) {
  const width = isFull ? "top-[6vh] max-h-[88vh] max-w-7xl" : `top-[12vh] max-h-[80vh] ${isWide ? "max-w-2xl" : "max-w-md"}`;
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-30 bg-scrim" />
        <Radix.Content
          // Focus on the first button would show its tooltip, and the first Escape would close that only.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          {...(lead === undefined ? { "aria-describedby": undefined } : {})}
          className={`animate-appear fixed left-1/2 z-30 w-[calc(100vw-2rem)] -translate-x-1/2 overflow-auto rounded-lg border border-line bg-raised p-5 shadow-float outline-none ${width}`}
        >
          <div className="mb-4 flex items-start gap-3">
            <div className="grow">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {lead !== undefined && <Radix.Description className="mt-1 text-sm text-muted">{lead}</Radix.Description>}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close">
                <CloseIcon />
              </IconButton>
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface QuestionProps {
  readonly title: string;
  readonly lead: ReactNode;
  /** The label of the button that acts, such as `Delete`. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks before an action, and shows its error. The dialog closes after a success. */
export function Question(props: QuestionProps) {
  return props.isOpen ? <OpenQuestion {...props} /> : null;
}

/** Exists while the question is asked, so that an earlier answer changes nothing in a later question. */
function OpenQuestion({ title, lead, action, isDangerous = false, onClose, onConfirm }: QuestionProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  function confirm() {
    setIsBusy(true);
    setError(undefined);
    onConfirm().then(
      () => isShown.current && onClose(),
      (reason: ApiError) => {
        setError(reason);
        setIsBusy(false);
      },
    );
  }
  return (
    <Dialog title={title} lead={lead} isOpen onClose={onClose}>
      {error !== undefined && <ProblemLine error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button weight={isDangerous ? "danger" : "primary"} isBusy={isBusy} onClick={confirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
