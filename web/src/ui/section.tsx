/** A part of a page with a heading of its own, such as a group of settings. */
import { type ReactNode, useId } from "react";

interface SectionProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** A button beside the heading. */
  readonly action?: ReactNode;
  /** Level of the heading in the outline of the page. */
  readonly level?: 2 | 3;
  readonly children?: ReactNode;
}

export function Section({ title, lead, action, level = 2, children }: SectionProps) {
  const id = useId();
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <section aria-labelledby={id} className="border-b border-line py-7 first:pt-0 last:border-b-0">
      <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 grow basis-64">
          <Heading id={id} className="text-lg font-semibold">
            {title}
          </Heading>
          {lead !== undefined && <p className="mt-0.5 max-w-prose text-sm text-muted">{lead}</p>}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
