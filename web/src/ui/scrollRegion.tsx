/** A part of a page that scrolls by itself and has no control to reach with the keyboard: it takes the focus itself. */
import type { ReactNode } from "react";

interface ScrollRegionProps {
  /** What the region shows. */
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export function ScrollRegion({ label, className = "", children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll what has the focus
    <section aria-label={label} tabIndex={0} className={`overflow-auto ${className}`}>
      {children}
    </section>
  );
}
