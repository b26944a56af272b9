/** A list whose rows have any height, for some hundred entries at most: it is read page by page with a button. */
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import type { Pages } from "./virtualList.tsx";

interface RowsProps {
  /** The name of the list. */
  readonly label: string;
  readonly isLoading: boolean;
  readonly pages: Pages;
  /** One `Row` for each entry. */
  readonly children: ReactNode;
}

const loadingRows = [1, 2, 3];

export function Rows({ label, isLoading, pages, children }: RowsProps) {
  if (isLoading) {
    return (
      <ul aria-label={`Loading: ${label}`} aria-busy="true">
        {loadingRows.map((row) => (
          <li key={row} className="flex h-15 flex-col justify-center gap-1.5 border-b border-line last:border-b-0">
            <span className="skeleton h-4 w-40" />
            <span className="skeleton h-3 w-64 max-w-full" />
          </li>
        ))}
      </ul>
    );
  }
  return (
    <>
      <ul aria-label={label}>{children}</ul>
      {pages.isFetchNextPageError && (
        <p role="alert" className="mt-3 text-sm text-danger">
          The rest of the list could not be read.
        </p>
      )}
      {pages.hasNextPage && (
        <Button className="mt-3" isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}

interface RowProps {
  readonly sign?: ReactNode;
  /** The name of the entry and its badges. */
  readonly title: ReactNode;
  /** Lines below the title. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

export function Row({ sign, title, children, actions }: RowProps) {
  return (
    <li
      className={`flex min-h-15 gap-3 border-b border-line py-3 last:border-b-0 ${children === undefined ? "items-center" : "items-start"}`}
    >
      {sign !== undefined && <span className="mt-0.5">{sign}</span>}
      <div className="min-w-0 grow">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-base font-medium">{title}</div>
        {children !== undefined && <div className="mt-0.5 text-xs text-muted">{children}</div>}
      </div>
      {actions !== undefined && <div className="flex shrink-0 items-center gap-1.5">{actions}</div>}
    </li>
  );
}
