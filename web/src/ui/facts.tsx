/** Names with their values, one a line: what there is to know about a thing. Stands in a `dl`. */
import type { ReactNode } from "react";

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline gap-3 py-1">
      <dt className="w-24 shrink-0 text-xs text-muted">{name}</dt>
      <dd className="min-w-0 grow text-sm">{children}</dd>
    </div>
  );
}
