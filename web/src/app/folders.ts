import { useQuery } from "@tanstack/react-query";
import type { Folder } from "../../../api/schema/folder.ts";
import { client, trpc } from "./data.ts";

export interface FolderNode extends Folder {
  readonly children: readonly FolderNode[];
}

/** A page of the list has at most this many folders by default (limit `list.limitMax`). */
const pageSize = 100;
const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

async function readAll(workspaceId: string, signal: AbortSignal): Promise<readonly Folder[]> {
  const all: Folder[] = [];
  let nextToken: string | undefined;
  do {
    const page = await client.folders.list.query(
      { workspaceId, archived: false, limit: pageSize, ...(nextToken === undefined ? {} : { nextToken }) },
      { signal },
    );
    all.push(...page.folders);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return all;
}

/** All folders of a workspace that are not archived, in no order. */
export function useFolders(workspaceId: string) {
  return useQuery({
    queryKey: [...trpc.folders.list.queryKey({ workspaceId }), "all"],
    queryFn: ({ signal }) => readAll(workspaceId, signal),
    staleTime: 60_000,
  });
}

/** The folders at the top level with those below them, by name. A folder whose parent is archived stands at the top. */
export function toTree(folders: readonly Folder[]): readonly FolderNode[] {
  const known = new Set(folders.map(({ folderId }) => folderId));
  const byParent = Map.groupBy(folders, ({ parentFolderId }) =>
    parentFolderId !== null && known.has(parentFolderId) ? parentFolderId : null,
  );
  const below = (parent: string | null): readonly FolderNode[] =>
    (byParent.get(parent) ?? [])
      .toSorted((one, other) => byName.compare(one.name, other.name))
      .map((folder) => ({ ...folder, children: below(folder.folderId) }));
  return below(null);
}

export interface FolderOption {
  readonly folderId: string;
  /** Names from the top level, such as `Guides / Setup`. */
  readonly path: string;
}

/** The folders with their paths, in the order of the tree, for choices. */
export function toOptions(nodes: readonly FolderNode[], above = ""): readonly FolderOption[] {
  return nodes.flatMap(({ folderId, name, children }) => {
    const path = above === "" ? name : `${above} / ${name}`;
    return [{ folderId, path }, ...toOptions(children, path)];
  });
}
