/** What the server said when it refused a call: the detail of its problem document, and what the person can do. */
import type { ReactNode } from "react";
import { ApiError } from "../../../client/index.ts";
import { Button } from "./button.tsx";

/** Why a call or a page failed. Calls fail with an ApiError; the types of the query library say less. */
export type Failure = Pick<Error, "message">;

function titleOf(error: Failure): string {
  if (!(error instanceof ApiError)) return "Something went wrong in this page";
  if (error.code === "unreachable") return "The server cannot be reached";
  switch (error.status) {
    case 403:
      return "You may not see this";
    case 404:
      return "This does not exist, or you may not see it";
    case 410:
      return "This is gone";
    default:
      return "The server refused this";
  }
}

interface ProblemProps {
  readonly error: Failure;
  readonly onRetry?: (() => void) | undefined;
}

/** Takes the place of a screen, or of a part of it, that could not be loaded. */
export function ProblemView({ error, onRetry }: ProblemProps) {
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-center px-6 py-16 text-center">
      <h2 className="text-lg font-semibold">{titleOf(error)}</h2>
      <p className="mt-2 text-sm text-muted">{error.message}</p>
      {onRetry !== undefined && (
        <Button className="mt-5" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** The error of a form: above its buttons. */
export function ProblemLine({ error }: { readonly error: Failure }) {
  return (
    <p role="alert" className="mb-4 rounded-md bg-danger-soft px-3 py-2 text-sm text-danger">
      {error.message}
    </p>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The next thing to do. */
  readonly action?: ReactNode;
}

/** Takes the place of a list without entries: says what belongs here, and offers what to do next. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-6 py-16 text-center">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children !== undefined && <p className="mt-2 text-sm text-muted">{children}</p>}
      {action !== undefined && <div className="mt-5 flex gap-2">{action}</div>}
    </div>
  );
}
