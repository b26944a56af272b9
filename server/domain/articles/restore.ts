/**
 * Restore makes a section, a file or all files of the live document equal to an earlier revision, and commits the result.
 *
 * It is an edit by the caller: the difference between the live text and the earlier text is applied to the document, so text
 * that both have in common keeps its author, and text that others type meanwhile is kept. All files change in one
 * transaction. A repeat under the same Idempotency-Key finds the edit by its client id, as in edits.ts.
 */
import type * as Y from "yjs";
import { type ArticleFile, articleFiles } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import { requireTextMatch } from "../call/precondition.ts";
import { accessOf } from "../call/principal.ts";
import type { ArticleTexts } from "./articleTexts.ts";
import type { CommitReply, Commits } from "./commits.ts";
import type { PlannedEdit } from "./editPlan.ts";
import { textsOfDocument } from "./fileTexts.ts";
import type { History } from "./history.ts";
import { carryOperations, joinNearest } from "./merge.ts";
import type { FileTexts } from "./port.ts";
import { replaceSection } from "./sections.ts";
import { applyToText, maxPlacesIn, recordClientId, toClientId } from "./textUpdate.ts";

export interface RestoreRequest {
  /** A kept or committed revision. */
  readonly revision: number;
  /** Default: all files, or content.md when `section` is present. */
  readonly file?: ArticleFile | undefined;
  /** Text of the heading with which the section begins. */
  readonly section?: string | undefined;
}

export interface Restore {
  /**
   * The reply is that of a commit: the last commit when nothing had to change since. Throws `revision_gone`,
   * `anchor_not_found` and `anchor_ambiguous`.
   */
  restore(articleId: string, request: RestoreRequest, call: Call): Promise<CommitReply>;
}

export interface RestoreOptions {
  readonly rooms: Pick<Rooms, "read" | "edit">;
  readonly history: Pick<History, "textsAt">;
  readonly commits: Pick<Commits, "create">;
  readonly texts: Pick<ArticleTexts, "planEdit" | "findSections">;
}

/** The texts that the restored files shall have. Files that are not restored are absent. */
type Targets = readonly (readonly [ArticleFile, string])[];
type Plans = readonly { readonly file: ArticleFile; readonly planned: PlannedEdit }[];

/** Plans made again because the text changed meanwhile. After that the operations are moved around the change. */
const maxTries = 4;

export function createRestore({ rooms, history, commits, texts: work }: RestoreOptions): Restore {
  function readLive(articleId: string, clientId: number | undefined) {
    return rooms.read(articleId, (document, revision) => ({
      revision,
      texts: textsOfDocument(document),
      known: clientId !== undefined && document.store.clients.has(clientId),
    }));
  }

  /** Finds the only section with the heading in a text. `where` names the text in the message. */
  async function findSection(owner: string, markdown: string, heading: string, where: string) {
    const [section, ...others] = await work.findSections(owner, { markdown, heading });
    if (section !== undefined && others.length === 0) return section;
    const code = section === undefined ? "anchor_not_found" : "anchor_ambiguous";
    const message = `${where} has ${section === undefined ? "no" : "more than one"} heading with this text. A heading is named by its words, without "#".`;
    throw new AppError(code, `${message} Nothing was restored.`, { errors: [{ pointer: "/section", code, message }] });
  }

  async function toTargets(
    owner: string,
    { revision, file, section }: RestoreRequest,
    earlier: FileTexts,
    live: FileTexts,
  ): Promise<Targets> {
    if (section === undefined) return (file === undefined ? articleFiles : [file]).map((name) => [name, earlier[name]] as const);
    const name = file ?? "content.md";
    const found = await findSection(owner, earlier[name], section, `Revision ${revision}`);
    const place = await findSection(owner, live[name], section, "The live text");
    return [[name, replaceSection(live[name], place, earlier[name].slice(found.start, found.end))]];
  }

  /** Plans the changes from `base`, the text that was live at the start of the call, merged into `live`. */
  async function plan(owner: string, targets: Targets, base: FileTexts, live: FileTexts, maxFileBytes: number): Promise<Plans> {
    const plans: Plans[number][] = [];
    for (const [file, content] of targets) {
      const planned = await work.planEdit(owner, {
        request: { mode: "replace", content },
        base: base[file],
        live: live[file],
        maxFileBytes,
      });
      if (planned.operations.length > 0) plans.push({ file, planned });
    }
    return plans;
  }

  function apply(document: Y.Doc, plans: Plans, planned: FileTexts, clientId: number | undefined): void {
    for (const { file, planned: edit } of plans) {
      const text = document.getText(file);
      const now = text.toString();
      const operations = now === planned[file] ? edit.operations : carryOperations(edit.operations, planned[file], now);
      applyToText(text, joinNearest(now, operations, maxPlacesIn(document)));
    }
    const isRecorded = plans.some(({ planned: { operations } }) => operations.some(({ insert }) => insert !== ""));
    if (clientId !== undefined && !isRecorded) recordClientId(document.getText("content.md"));
  }

  async function edit(articleId: string, request: RestoreRequest, earlier: FileTexts, call: Call): Promise<void> {
    const owner = accessOf(call).workspaceId;
    const clientId = call.isRepeatable ? toClientId(call.ids) : undefined;
    const first = await readLive(articleId, clientId);
    if (first.known) return;
    requireTextMatch(call, first.revision);
    const targets = await toTargets(owner, request, earlier, first.texts);
    let live = first;
    for (let tries = 1; ; tries += 1) {
      const plans = await plan(owner, targets, first.texts, live.texts, call.limits["article.file"]);
      if (plans.length === 0) return;
      const { texts } = live;
      const change = (document: Y.Doc, revision: number): boolean => {
        requireTextMatch(call, revision);
        const isCurrent = plans.every(({ file }) => document.getText(file).toString() === texts[file]);
        if (!isCurrent && tries < maxTries) return false;
        apply(document, plans, texts, clientId);
        return true;
      };
      const { repeated, value } = await rooms.edit(articleId, authorOf(call), clientId, change, call.ifMatch !== undefined);
      if (repeated || value === true) return;
      live = await readLive(articleId, clientId);
    }
  }

  return {
    async restore(articleId, request, call) {
      const { revision, file, section } = request;
      const earlier = await history.textsAt(articleId, revision);
      if (earlier === undefined) {
        const detail = `Revision ${revision} is not available: it does not exist, or it was never committed and its text is no longer kept.`;
        throw new AppError("revision_gone", detail);
      }
      await edit(articleId, request, earlier, call);
      const part = [section === undefined ? [] : `“${section}”`, file ?? []].flat().join(" of ");
      const message = `Restore ${part === "" ? "" : `${part} from `}revision ${revision}`;
      return commits.create(articleId, { message, kind: "restore" }, call);
    },
  };
}
