import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useSelector } from "@xstate/react";
import { useState } from "react";
import { toKeyNames } from "../app/actions.ts";
import { trpc } from "../app/data.ts";
import { askAndSignOut } from "../app/signOut.ts";
import { type Theme, themeStore } from "../app/theme.ts";
import { useMe } from "../app/useMe.ts";
import { useWorkspace } from "../app/useWorkspace.ts";
import { Avatar } from "../ui/avatar.tsx";
import { ActivityIcon, ArticleIcon, ChevronDownIcon, PlusIcon, RunIcon, SearchIcon, SettingsIcon, TopicIcon } from "../ui/icons.tsx";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuLine } from "../ui/menu.tsx";
import { FolderTree } from "./FolderTree.tsx";
import { NewWorkspaceDialog } from "./NewWorkspaceDialog.tsx";

const places = [
  { to: "/w/$workspaceId/articles", name: "Articles", icon: <ArticleIcon /> },
  { to: "/w/$workspaceId/topics", name: "Topics", icon: <TopicIcon /> },
  { to: "/w/$workspaceId/runs", name: "Runs", icon: <RunIcon /> },
  { to: "/w/$workspaceId/activity", name: "Activity", icon: <ActivityIcon /> },
  { to: "/w/$workspaceId/settings", name: "Settings", icon: <SettingsIcon /> },
] as const;

const entryClass =
  "flex h-8 w-full items-center gap-2 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-text data-[status=active]:bg-active data-[status=active]:text-text data-[status=active]:font-medium";

export function Sidebar({ onSearch }: { readonly onSearch: () => void }) {
  const { workspaceId } = useWorkspace();
  return (
    <div className="flex h-full flex-col">
      <div className="p-2">
        <WorkspaceMenu />
        <button type="button" onClick={onSearch} className={`${entryClass} mt-1`}>
          <SearchIcon />
          <span className="grow text-left">Search</span>
          <kbd className="font-sans text-xs text-faint">{toKeyNames("mod+k").join(" ")}</kbd>
        </button>
      </div>
      <nav aria-label="Workspace" className="min-h-0 grow overflow-auto px-2 pb-2">
        <ul>
          {places.map(({ to, name, icon }) => (
            <li key={to}>
              <Link to={to} params={{ workspaceId }} activeOptions={{ includeSearch: false }} className={entryClass}>
                {icon}
                {name}
              </Link>
            </li>
          ))}
        </ul>
        <FolderTree />
      </nav>
      <div className="border-t border-line p-2">
        <AccountMenu />
      </div>
    </div>
  );
}

function WorkspaceMenu() {
  const { workspaceId, workspace } = useWorkspace();
  const { data } = useQuery(trpc.workspaces.list.queryOptions({}));
  const navigate = useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  const name = workspace?.displayName ?? workspace?.name;
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button type="button" className="flex h-9 w-full items-center gap-2 rounded-md px-2 hover:bg-hover data-[state=open]:bg-active">
            <span className="min-w-0 grow truncate text-left font-semibold">
              {name ?? <span className="skeleton inline-block h-4 w-28 align-middle" />}
            </span>
            <ChevronDownIcon className="text-faint" />
            <span className="sr-only">Change the workspace</span>
          </button>
        }
      >
        <MenuLabel>Workspaces</MenuLabel>
        <MenuChoice
          value={workspaceId}
          onChange={(chosen) => void navigate({ to: "/w/$workspaceId/articles", params: { workspaceId: chosen } })}
          options={(data?.workspaces ?? []).map((listed) => ({ value: listed.workspaceId, label: listed.displayName ?? listed.name }))}
        />
        <MenuLine />
        <MenuItem onSelect={() => setIsCreating(true)}>
          <PlusIcon /> New workspace
        </MenuItem>
      </Menu>
      <NewWorkspaceDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </>
  );
}

function AccountMenu() {
  const { username, displayName } = useMe();
  const navigate = useNavigate();
  const theme = useSelector(themeStore, ({ context }) => context.theme);
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex h-9 w-full items-center gap-2 rounded-md px-2 text-sm hover:bg-hover data-[state=open]:bg-active"
        >
          <Avatar username={username} name={displayName} />
          <span className="min-w-0 grow truncate text-left">{displayName ?? username}</span>
          <span className="sr-only">Your account</span>
        </button>
      }
    >
      <MenuItem onSelect={() => void navigate({ to: "/account" })}>Profile and password</MenuItem>
      <MenuLine />
      <MenuLabel>Theme</MenuLabel>
      <MenuChoice
        value={theme}
        onChange={(chosen) => themeStore.trigger.choose({ theme: chosen as Theme })}
        options={[
          { value: "system", label: "System" },
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
        ]}
      />
      <MenuLine />
      <MenuItem onSelect={() => void askAndSignOut()}>Sign out</MenuItem>
    </Menu>
  );
}
