import type { ReactNode } from "react";

interface SettingsPageProps {
  /** The group of the navigation that the page belongs to. Wide windows show it in the navigation. */
  readonly group: "Workspace" | "Integrations";
  readonly title: string;
  readonly lead?: ReactNode;
  /** The button that creates an entry. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export function SettingsPage({ group, title, lead, action, children }: SettingsPageProps) {
  return (
    <>
      <div className="mb-6 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 grow basis-64">
          <p className="text-xs text-faint md:hidden">{group}</p>
          <h2 className="text-xl font-semibold">{title}</h2>
          {lead !== undefined && <p className="mt-1 max-w-prose text-sm text-muted">{lead}</p>}
        </div>
        {action}
      </div>
      <div>{children}</div>
    </>
  );
}
