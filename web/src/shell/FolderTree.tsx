import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { client, trpc } from "../app/data.ts";
import { type FolderNode, toTree, useFolders } from "../app/folders.ts";
import { useWorkspace } from "../app/useWorkspace.ts";
import { IconButton } from "../ui/button.tsx";
import { Question } from "../ui/dialog.tsx";
import { ChevronRightIcon, FolderIcon, MoreIcon, PlusIcon } from "../ui/icons.tsx";
import { Menu, MenuItem, MenuLine } from "../ui/menu.tsx";
import { noticeStore } from "../ui/notices.tsx";
import { FolderDialog } from "./FolderDialog.tsx";

type Editing = { readonly kind: "new"; readonly parentFolderId: string | null } | { readonly kind: "change"; readonly folder: FolderNode };

/** The folders of the workspace. Each opens its articles. */
export function FolderTree() {
  const { workspaceId, canWrite } = useWorkspace();
  const { data, error } = useFolders(workspaceId);
  const [editing, setEditing] = useState<Editing>();
  const [deleting, setDeleting] = useState<FolderNode>();
  const queryClient = useQueryClient();
  const navigate = useNavigate();

  const tellError = (reason: Error) => noticeStore.trigger.show({ kind: "error", text: reason.message });
  const refresh = () => queryClient.invalidateQueries(trpc.folders.pathFilter());
  const archive = useMutation({
    mutationFn: (folder: FolderNode) => client.folders.archive.mutate({ folderId: folder.folderId }),
    async onSuccess(_started, folder) {
      await refresh();
      noticeStore.trigger.show({
        kind: "done",
        text: `“${folder.name}” is archived, with its topics.`,
        action: { label: "Undo", run: () => void client.folders.restore.mutate({ folderId: folder.folderId }).then(refresh, tellError) },
      });
    },
  });

  return (
    <section aria-labelledby="folders" className="mt-4">
      <div className="flex h-7 items-center pl-2">
        <h2 id="folders" className="grow text-xs font-medium text-faint">
          Folders
        </h2>
        {canWrite && (
          <IconButton label="New folder" onClick={() => setEditing({ kind: "new", parentFolderId: null })}>
            <PlusIcon />
          </IconButton>
        )}
      </div>
      {error !== null && <p className="px-2 text-xs text-danger">{error.message}</p>}
      {data === undefined && error === null && <div className="skeleton m-2 h-4 w-32" />}
      {data?.length === 0 && <p className="px-2 py-1 text-xs text-faint">No folders yet.</p>}
      {data !== undefined && (
        <Branch
          nodes={toTree(data)}
          level={0}
          menuOf={(folder) =>
            canWrite ? (
              <Menu
                trigger={
                  <IconButton
                    label={`Actions for ${folder.name}`}
                    className="size-6 pointer-fine:opacity-0 group-hover:opacity-100 focus-visible:opacity-100 data-[state=open]:opacity-100"
                  >
                    <MoreIcon />
                  </IconButton>
                }
              >
                <MenuItem onSelect={() => setEditing({ kind: "change", folder })}>Rename, move or configure…</MenuItem>
                <MenuItem onSelect={() => setEditing({ kind: "new", parentFolderId: folder.folderId })}>New folder inside…</MenuItem>
                <MenuLine />
                <MenuItem onSelect={() => archive.mutate(folder)}>Archive</MenuItem>
                <MenuItem isDangerous onSelect={() => setDeleting(folder)}>
                  Delete…
                </MenuItem>
              </Menu>
            ) : null
          }
        />
      )}
      {editing !== undefined && (
        <FolderDialog
          workspaceId={workspaceId}
          folder={editing.kind === "change" ? editing.folder : undefined}
          parentFolderId={editing.kind === "new" ? editing.parentFolderId : editing.folder.parentFolderId}
          folders={data ?? []}
          onClose={() => setEditing(undefined)}
        />
      )}
      <Question
        title={`Delete “${deleting?.name ?? ""}”?`}
        lead="Its articles go to the trash, from where they can be restored. Folders in it are deleted too."
        action="Delete folder"
        isDangerous
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        onConfirm={async () => {
          if (deleting === undefined) return;
          await client.folders.delete.mutate({ folderId: deleting.folderId, recursive: true });
          await Promise.all([refresh(), queryClient.invalidateQueries(trpc.articles.pathFilter())]);
          await navigate({ to: "/w/$workspaceId/articles", params: { workspaceId } });
        }}
      />
    </section>
  );
}

interface BranchProps {
  readonly nodes: readonly FolderNode[];
  readonly level: number;
  readonly menuOf: (folder: FolderNode) => ReactNode;
}

function Branch({ nodes, level, menuOf }: BranchProps) {
  return (
    <ul>
      {nodes.map((node) => (
        <Leaf key={node.folderId} {...{ node, level, menuOf }} />
      ))}
    </ul>
  );
}

function Leaf({ node, level, menuOf }: { readonly node: FolderNode; readonly level: number; readonly menuOf: BranchProps["menuOf"] }) {
  const { workspaceId } = useWorkspace();
  const [isOpen, setIsOpen] = useState(level < 1);
  const hasChildren = node.children.length > 0;
  return (
    <li>
      <div
        className="group flex h-8 items-center rounded-md hover:bg-hover has-[[data-status=active]]:bg-active"
        style={{ paddingLeft: `${level * 0.875}rem` }}
      >
        <button
          type="button"
          aria-label={`${isOpen ? "Close" : "Open"} ${node.name}`}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className={`flex size-6 shrink-0 items-center justify-center rounded-sm text-faint ${hasChildren ? "" : "invisible"}`}
        >
          <ChevronRightIcon className={`size-3 transition-transform ${isOpen ? "rotate-90" : ""}`} />
        </button>
        <Link
          to="/w/$workspaceId/articles"
          params={{ workspaceId }}
          search={{ folder: node.folderId }}
          activeOptions={{ exact: true, includeSearch: true }}
          className="flex h-full min-w-0 grow items-center gap-1.5 rounded-md text-sm text-muted data-[status=active]:font-medium data-[status=active]:text-text"
        >
          <FolderIcon className="text-faint" />
          <span className="truncate">{node.name}</span>
        </Link>
        {menuOf(node)}
      </div>
      {isOpen && hasChildren && <Branch nodes={node.children} level={level + 1} menuOf={menuOf} />}
    </li>
  );
}
