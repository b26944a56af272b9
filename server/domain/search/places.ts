/**
 * Places names where a record is, as words of the index: its workspace, kind and status together, and its folder.
 *
 * A search looks up the places that it may see, so it never ranks a record of another workspace. The words contain only
 * lower-case letters and digits, which the index keeps as they are.
 */
import type { SearchItem, SearchSource } from "./port.ts";

function toWord(id: string): string {
  return id.toLowerCase().replace(/[^a-z0-9]/g, "");
}

export function toPlace(workspaceId: string, { kind }: Pick<SearchSource, "kind">, status: string | undefined): string {
  return `${toWord(workspaceId)}${kind}${status === undefined ? "" : toWord(status)}`;
}

export function toFolderPlace(folderId: string): string {
  return toWord(folderId);
}

/** Returns the places of a record, separated by spaces. */
export function toPlaces(source: Pick<SearchSource, "kind">, { workspaceId, status, folderId }: SearchItem): string {
  const place = toPlace(workspaceId, source, status);
  return folderId === undefined ? place : `${place} ${toFolderPlace(folderId)}`;
}
