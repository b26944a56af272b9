import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useSelector } from "@xstate/react";
import { Dialog } from "radix-ui";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { type Action, useActions, useShortcuts } from "../app/actions.ts";
import { ConnectionBar } from "../app/ConnectionBar.tsx";
import { drawerStore } from "../app/drawer.ts";
import { askAndSignOut } from "../app/signOut.ts";
import { themeStore } from "../app/theme.ts";
import { useWorkspace } from "../app/useWorkspace.ts";
import { Boundary } from "../ui/boundary.tsx";
import { ProblemView } from "../ui/problem.tsx";
import { rememberWorkspace } from "./lastWorkspace.ts";
import { Sidebar } from "./Sidebar.tsx";

const Palette = lazy(async () => ({ default: (await import("./Palette.tsx")).Palette }));
const HelpSheet = lazy(async () => ({ default: (await import("./HelpSheet.tsx")).HelpSheet }));

/** The frame of everything in a workspace: navigation, command palette, shortcuts. */
export function Shell() {
  const { workspaceId, error } = useWorkspace();
  const [overlay, setOverlay] = useState<"palette" | "help">();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const isDrawerOpen = useSelector(drawerStore, ({ context }) => context.isOpen);

  useEffect(() => rememberWorkspace(workspaceId), [workspaceId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address closes the drawer
  useEffect(() => drawerStore.trigger.close(), [pathname]);

  const actions = useMemo((): readonly Action[] => {
    const params = { workspaceId };
    const places = [
      ["Articles", "g a", "/w/$workspaceId/articles"],
      ["Topics", "g t", "/w/$workspaceId/topics"],
      ["Runs", "g r", "/w/$workspaceId/runs"],
      ["Activity", "g y", "/w/$workspaceId/activity"],
      ["Settings", "g s", "/w/$workspaceId/settings"],
    ] as const;
    return [
      { name: "Search everything", group: "General", keys: "mod+k", run: () => setOverlay("palette") },
      { name: "Show all shortcuts", group: "General", keys: "?", run: () => setOverlay("help") },
      ...places.map(([name, keys, to]) => ({ name: `Go to ${name}`, group: "Go to", keys, run: () => void navigate({ to, params }) })),
      { name: "Go to your account", group: "Go to", keys: "g u", run: () => void navigate({ to: "/account" }) },
      ...(["light", "dark", "system"] as const).map((theme) => ({
        name: theme === "system" ? "Use the theme of the system" : `Use the ${theme} theme`,
        group: "General",
        run: () => themeStore.trigger.choose({ theme }),
      })),
      {
        name: "Sign out",
        group: "General",
        run: () => void askAndSignOut(),
      },
    ];
  }, [workspaceId, navigate]);
  useActions(actions);
  useShortcuts();

  return (
    <div className="flex h-full flex-col">
      <ConnectionBar />
      <div className="flex min-h-0 grow">
        <a
          href="#content"
          className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-raised focus:p-2 focus:shadow-float"
        >
          Skip the navigation
        </a>
        <div className="hidden w-60 shrink-0 border-r border-line bg-side md:block">
          <Sidebar onSearch={() => setOverlay("palette")} />
        </div>
        <Dialog.Root open={isDrawerOpen} onOpenChange={(open) => !open && drawerStore.trigger.close()}>
          <Dialog.Portal>
            <Dialog.Overlay className="fixed inset-0 z-20 bg-scrim md:hidden" />
            <Dialog.Content
              aria-describedby={undefined}
              className="fixed inset-y-0 left-0 z-20 w-72 max-w-[85vw] border-r border-line bg-side md:hidden"
            >
              <Dialog.Title className="sr-only">Navigation</Dialog.Title>
              <Sidebar onSearch={() => setOverlay("palette")} />
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
        <main id="content" tabIndex={-1} className="min-w-0 grow outline-none">
          {error === null ? (
            <Suspense>
              <Outlet />
            </Suspense>
          ) : (
            <ProblemView error={error} />
          )}
        </main>
      </div>
      <Boundary key={overlay}>
        <Suspense>
          {overlay === "palette" && <Palette onClose={() => setOverlay(undefined)} />}
          {overlay === "help" && <HelpSheet onClose={() => setOverlay(undefined)} />}
        </Suspense>
      </Boundary>
    </div>
  );
}
