import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { Suspense, useId, useMemo } from "react";
import { type Action, useActions } from "../../app/actions.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";

interface Page {
  readonly to: `/w/$workspaceId/settings/${"general" | "members" | "keys" | "webhooks"}`;
  readonly name: string;
}

interface Group {
  readonly name: string;
  readonly pages: readonly Page[];
}

const groups: readonly Group[] = [
  {
    name: "Workspace",
    pages: [
      { to: "/w/$workspaceId/settings/general", name: "General" },
      { to: "/w/$workspaceId/settings/members", name: "Members" },
    ],
  },
  {
    name: "Integrations",
    pages: [
      { to: "/w/$workspaceId/settings/keys", name: "API Keys" },
      { to: "/w/$workspaceId/settings/webhooks", name: "Webhooks" },
    ],
  },
];

const allPages = groups.flatMap(({ pages }) => pages);

/** The frame of the pages of settings: their navigation, beside the page or above it. */
export function SettingsScreen() {
  const { workspaceId } = useWorkspace();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const page = allPages.find(({ to }) => pathname.endsWith(to.slice(to.lastIndexOf("/"))));
  const actions = useMemo(
    (): readonly Action[] =>
      allPages.map(({ to, name }) => ({
        name: `Go to ${name}`,
        group: "Settings",
        run: () => void navigate({ to, params: { workspaceId } }),
      })),
    [navigate, workspaceId],
  );
  useActions(actions);
  return (
    <Screen
      title={page === undefined ? "Settings" : `${page.name} · Settings`}
      heading={<h1 className="truncate text-base font-semibold">Settings</h1>}
    >
      <div className="flex h-full flex-col md:flex-row">
        <nav
          aria-label="Settings"
          className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-2 py-1.5 md:w-48 md:flex-col md:gap-5 md:overflow-visible md:border-r md:border-b-0 md:px-3 md:py-5"
        >
          {groups.map((group) => (
            <NavigationGroup key={group.name} group={group} />
          ))}
        </nav>
        <div className="min-h-0 min-w-0 grow overflow-auto">
          <div className="mx-auto max-w-3xl px-4 py-6 md:px-8">
            <Suspense>
              <Outlet />
            </Suspense>
          </div>
        </div>
      </div>
    </Screen>
  );
}

function NavigationGroup({ group: { name, pages } }: { readonly group: Group }) {
  const { workspaceId } = useWorkspace();
  const id = useId();
  return (
    <div>
      <p id={id} className="mb-1 hidden px-2 text-xs text-faint md:block">
        {name}
      </p>
      <ul aria-labelledby={id} className="flex gap-1 md:flex-col md:gap-0">
        {pages.map((page) => (
          <li key={page.to}>
            <Link
              to={page.to}
              params={{ workspaceId }}
              className="flex h-8 items-center rounded-md px-2 text-sm whitespace-nowrap text-muted hover:bg-hover hover:text-text data-[status=active]:bg-active data-[status=active]:font-medium data-[status=active]:text-text"
            >
              {page.name}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
