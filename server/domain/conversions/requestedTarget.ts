/** Checks the target of a requested conversion, and chooses the ids of what the conversion will write. */
import type { ConversionTarget } from "../../../api/schema/conversion.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ConversionTargetContext } from "../../../machines/conversion.ts";
import type { Documents } from "../articles/port.ts";
import type { Access, Call } from "../call/call.ts";
import type { AccessResolver } from "../call/ports.ts";
import { principalOf } from "../call/principal.ts";
import { refuseField } from "../call/refuseField.ts";
import { refuseTrashed } from "../call/refuseTrashed.ts";
import type { Folders } from "../folders/service.ts";

/** A target with the access of the caller to its workspace. */
export interface AccessedTarget {
  readonly access: Access;
  readonly target: ConversionTarget;
}

export interface TargetReaders {
  readonly folders: Pick<Folders, "find">;
  readonly documents: Pick<Documents, "read">;
}

/** Title of a new article whose source has no name, or one of spaces only. */
const untitled = "Untitled";
/** Length of a title in the API. */
const maxTitle = 500;

/** Throws `not_found`, `invalid_transition` for an article in the trash, or `insufficient_permission` for a caller who may only read. */
export async function accessTarget(access: AccessResolver, target: ConversionTarget, call: Call): Promise<AccessedTarget> {
  const [kind, id] =
    "articleId" in target
      ? (["article", target.articleId] as const)
      : "folderId" in target
        ? (["folder", target.folderId] as const)
        : (["workspace", target.workspaceId] as const);
  const found = await access.resolve(principalOf(call), kind, id, { deleted: true });
  const trashedArticleId = found?.trashedArticleId;
  if (found === undefined || (trashedArticleId !== undefined && found.role === "read")) throw notFound();
  if (trashedArticleId !== undefined) throw refuseTrashed("invalid_transition", trashedArticleId);
  if (found.role === "read") throw new AppError("insufficient_permission", "A target needs write permission in its workspace.");
  return { access: found, target };
}

/** Throws `validation_failed` for a folder that takes no articles. */
export async function requireOpenFolder(
  folders: TargetReaders["folders"],
  { access: { workspaceId }, target }: AccessedTarget,
): Promise<void> {
  if (!("folderId" in target)) return;
  const folder = await folders.find(workspaceId, target.folderId);
  if (folder !== undefined && folder.value.archivedAtMs === undefined) return;
  throw refuseField("target/folderId", "must be the id of a folder that is not archived", "not_found");
}

/** A title for a new article whose target names none. */
export interface SuggestedTitle {
  readonly title: string;
  /** True if the title is only the name of the file or address. The first heading of the text then replaces it. */
  readonly isGuessed: boolean;
}

export async function toTargetContext(
  documents: TargetReaders["documents"],
  { access: { partition }, target }: AccessedTarget,
  suggested: SuggestedTitle,
  ids: Call["ids"],
): Promise<ConversionTargetContext> {
  const made = { commitId: ids.next("cmt", partition), clientId: Buffer.from(ids.bytes(4)).readUInt32BE() };
  if ("articleId" in target) {
    return { articleId: target.articleId, ...made, baseRevision: (await documents.read(target.articleId)).revision };
  }
  const articleId = ids.next("art", partition);
  const isGuessed = target.title === undefined && suggested.isGuessed;
  const created = { title: toTitle(target.title ?? suggested.title), ...(isGuessed ? { isTitleGuessed: true as const } : {}) };
  return { articleId, ...made, created: "folderId" in target ? { ...created, folderId: target.folderId } : created };
}

/** Cuts a text to a title of the API. */
export function toTitle(text: string): string {
  const title = text
    .slice(0, maxTitle)
    .replace(/\p{Surrogate}$/u, "")
    .trim();
  return title === "" ? untitled : title;
}
