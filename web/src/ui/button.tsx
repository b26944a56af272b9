/** Buttons: one look for each weight. */

import { Tooltip } from "radix-ui";
import type { ButtonHTMLAttributes, ReactNode } from "react";

type Weight = "primary" | "normal" | "quiet" | "danger";

const looks: Record<Weight, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover disabled:opacity-50",
  normal: "border border-line bg-raised hover:bg-hover disabled:text-faint disabled:hover:bg-raised",
  quiet: "text-muted hover:bg-hover hover:text-text disabled:text-faint disabled:hover:bg-transparent",
  danger: "border border-line bg-raised text-danger hover:bg-danger-soft disabled:opacity-50",
};

/** The classes of a button, for links that look like one. */
export function buttonClass(weight: Weight = "normal"): string {
  return `inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md px-3 text-sm font-medium whitespace-nowrap select-none ${looks[weight]}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly weight?: Weight;
  /** The action is under way: the button keeps its size and takes no clicks. */
  readonly isBusy?: boolean;
}

export function Button({ weight = "normal", isBusy = false, className = "", disabled, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy}
      className={`${buttonClass(weight)} ${className}`}
    >
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The accessible name, which the tooltip shows. */
  readonly label: string;
  /** A shortcut to show in the tooltip, such as `Ctrl+B`. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

export function IconButton({ label, shortcut, className = "", children, ...rest }: IconButtonProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>
        <button
          type="button"
          aria-label={label}
          {...rest}
          className={`inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-text disabled:text-faint disabled:hover:bg-transparent aria-pressed:bg-active aria-pressed:text-text data-[state=open]:bg-active ${className}`}
        >
          {children}
        </button>
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content sideOffset={6} className="z-50 rounded-sm bg-text px-2 py-1 text-xs text-bg">
          {label}
          {shortcut !== undefined && <kbd className="ml-2 font-sans opacity-70">{shortcut}</kbd>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
