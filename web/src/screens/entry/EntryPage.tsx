import type { ReactNode } from "react";
import icon from "../../ui/icon.svg";

interface EntryPageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** A page with one form in its middle: sign-in, set-up, the first workspace. */
export function EntryPage({ title, lead, children }: EntryPageProps) {
  return (
    <main className="flex min-h-full items-center justify-center bg-side p-4">
      <div className="w-full max-w-sm rounded-lg border border-line bg-bg p-7">
        <img src={icon} alt="" width="28" height="28" className="mb-5" />
        <h1 className="text-xl font-semibold">{title}</h1>
        {lead !== undefined && <p className="mt-1 text-sm text-muted">{lead}</p>}
        <div className="mt-5">{children}</div>
      </div>
    </main>
  );
}
