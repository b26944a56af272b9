import { type ReactNode, useEffect } from "react";
import { IconButton } from "../ui/button.tsx";
import { MenuIcon } from "../ui/icons.tsx";
import { drawerStore } from "./drawer.ts";

interface ScreenProps {
  /** Also the title of the tab. */
  readonly title: string;
  /** Takes the place of the title in the bar, such as a field that renames. */
  readonly heading?: ReactNode;
  /** Buttons at the end of the bar. */
  readonly actions?: ReactNode;
  /** A second bar: filters or tabs. */
  readonly bar?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of a screen of the workspace: a bar with title and actions, and below it what scrolls. */
export function Screen({ title, heading, actions, bar, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} · Content workspace`;
  }, [title]);
  return (
    <div className="flex h-full min-w-0 flex-col">
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line px-3 md:px-5">
        <span className="md:hidden">
          <IconButton label="Open the navigation" onClick={() => drawerStore.trigger.open()}>
            <MenuIcon />
          </IconButton>
        </span>
        <div className="min-w-0 grow">{heading ?? <h1 className="truncate text-base font-semibold">{title}</h1>}</div>
        {actions !== undefined && <div className="flex shrink-0 items-center gap-1.5">{actions}</div>}
      </header>
      {bar !== undefined && (
        <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-1.5 border-b border-line px-3 py-1.5 md:px-5">{bar}</div>
      )}
      <div className="min-h-0 grow">{children}</div>
    </div>
  );
}
