/**
 * Edits applies edit requests to the live text.
 *
 * An edit is computed against the revision that the caller read and is then merged into the live text. Text that others
 * wrote since that revision is never deleted. The plan is computed outside the room (in a worker thread for a long text),
 * then adjusted inside the room to the edits that arrived meanwhile, and applied.
 *
 * Edits share the room's Yjs client id, because each additional client id makes the document larger permanently. An edit with
 * an Idempotency-Key is stored in one commit with its answer. If more follows (a commit of the article, a decision), the edit
 * uses its own client id, derived from the call's ids: a retry after a crash between the two finds this client id in the
 * document, changes nothing and returns the first attempt's answer.
 */
import * as Y from "yjs";
import type { EditRequest, EditResponse } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import { requireTextMatch } from "../call/precondition.ts";
import { type ArticleTexts, isLightEdit } from "./articleTexts.ts";
import type { CommitReply, Commits } from "./commits.ts";
import type { DocumentReader } from "./documentReader.ts";
import { checkEditRequest, type EditTask, finish, type PlannedEdit, planEdit } from "./editPlan.ts";
import { textsOfDocument, toContentHash } from "./fileTexts.ts";
import type { History } from "./history.ts";
import { carryOperations, joinNearest, unpackOperations } from "./merge.ts";
import { type FileTexts, JoinedCommit } from "./port.ts";
import { findChanged } from "./textDiff.ts";
import { applyToText, maxPlacesIn, recordClientId, toClientId } from "./textUpdate.ts";
import { createTurns } from "./turns.ts";

export interface Edits {
  /** `answersCall` is true if the answer of the call is that of this edit: it can then be kept in the same commit. */
  edit(articleId: string, request: EditRequest, call: Call, options?: { readonly answersCall: boolean }): Promise<EditResponse>;
}

export interface EditsOptions {
  readonly rooms: Pick<Rooms, "read" | "edit">;
  readonly reader: DocumentReader;
  readonly history: History;
  readonly commits: Pick<Commits, "create">;
  readonly texts: Pick<ArticleTexts, "planEdit">;
}

interface Live {
  readonly revision: number;
  readonly texts: FileTexts;
  /** Whether the document contains changes of the requested client id. */
  readonly known: boolean;
}

/** Characters that may change while an edit is planned. After a larger change the edit is planned again, up to `maxTries` plans. */
const maxMoved = 256 * 1024;
const maxTries = 4;
/** Edits that may wait for one long text. */
const maxWaiting = 10;

function ownerOf({ access, requestId }: Call): string {
  return access?.workspaceId ?? requestId;
}

type Answer = Omit<EditResponse, "articleId" | "file" | "commitId">;

export function createEdits({ rooms, reader, history, commits, texts }: EditsOptions): Edits {
  const inTurn = createTurns(maxWaiting);

  function readLive(articleId: string, clientId: number | undefined): Promise<Live> {
    return rooms.read(articleId, (document, revision) => ({
      revision,
      texts: textsOfDocument(document),
      known: clientId !== undefined && document.store.clients.has(clientId),
    }));
  }

  async function findBase(articleId: string, baseRevision: number, live: Live): Promise<FileTexts> {
    const texts = baseRevision === live.revision ? live.texts : await history.textsAt(articleId, baseRevision);
    if (texts !== undefined) return texts;
    const detail = `Revision ${baseRevision} is not available: it does not exist, or it was never committed and its text is no longer kept. Read the article again.`;
    throw new AppError("revision_conflict", detail, { currentRevision: live.revision });
  }

  /**
   * Finds the revision of the batch that an earlier attempt of this call wrote. Undefined when the client id belongs to another
   * author by coincidence. Throws `revision_conflict` when the trimmed log no longer reaches back to the time of the call: then
   * nothing proves that the edit was not written yet, and a retry must never write twice.
   */
  async function findEarlier(articleId: string, clientId: number, { nowMs }: Call): Promise<number | undefined> {
    for (let count = 256; ; count *= 4) {
      const { batches, before } = await reader.latest(articleId, count);
      const startsBeforeNow = (batches[0]?.atMs ?? nowMs) < nowMs;
      if (!startsBeforeNow && before === "kept") continue;
      const holds = ({ update }: { readonly update: Uint8Array }) => Y.parseUpdateMeta(update).to.has(clientId);
      const earlier = batches.find((batch) => batch.atMs >= nowMs && batch.updates.some(holds));
      if (earlier === undefined && !startsBeforeNow && before === "trimmed") throw notKept(await reader.tail(articleId));
      return earlier?.revision;
    }
  }

  function notKept(currentRevision: number): AppError {
    const detail = "An earlier attempt made this edit, but its revision is no longer kept.";
    return new AppError("revision_conflict", detail, { currentRevision });
  }

  /** Recomputes the answer of an earlier attempt from the texts before and after its batch. */
  async function answerAgain(articleId: string, request: EditRequest, revision: number, call: Call): Promise<Answer> {
    const { file = "content.md", baseRevision = revision - 1 } = request;
    const [base, before, after] = await Promise.all(
      [baseRevision, revision - 1, revision].map(async (at) => (await history.textsAt(articleId, at))?.[file]),
    );
    if (base === undefined || after === undefined) throw notKept(revision);
    const task = { request, base, live: base, maxFileBytes: call.limits["article.file"] };
    const { applied, rejected } = await texts.planEdit(ownerOf(call), task);
    const merged = request.baseRevision !== undefined && before !== base;
    return { revision, contentHash: toContentHash(after), merged, applied, rejected };
  }

  /** Returns whether the file changed since the base revision. Throws `revision_conflict` if it did and `onConflict` is "fail". */
  function judgeMerge({ baseRevision, onConflict }: EditRequest, base: string, live: string, currentRevision: number): boolean {
    const merged = baseRevision !== undefined && live !== base;
    if (!merged || onConflict !== "fail") return merged;
    throw new AppError("revision_conflict", "The file has changed since baseRevision; nothing was written.", { currentRevision });
  }

  /** Adjusts the plan to the current live text; undefined when too much changed and the edit must be planned again. */
  function planNow(task: EditTask, planned: PlannedEdit, live: string, tries: number): PlannedEdit | undefined {
    if (live === task.live) return planned;
    if (isLightEdit({ ...task, live })) return planEdit({ ...task, live });
    const { start, baseEnd, nextEnd } = findChanged(task.live, live);
    if (baseEnd - start + nextEnd - start > maxMoved && tries < maxTries) return undefined;
    const operations = planned.apart === undefined ? planned.operations : unpackOperations(planned.apart);
    return finish(live, carryOperations(operations, task.live, live), task.maxFileBytes, planned);
  }

  async function answerTo(articleId: string, request: EditRequest, call: Call, answersCall: boolean, hasTurn = false): Promise<Answer> {
    const { file = "content.md", baseRevision, dryRun = false } = request;
    const isKept = answersCall && call.isRepeatable && request.message === undefined;
    for (let tries = 1; ; tries += 1) {
      const clientId = call.isRepeatable && !isKept ? toClientId(call.ids) : undefined;
      const live = await readLive(articleId, clientId);
      if (clientId !== undefined && live.known) {
        const earlier = await findEarlier(articleId, clientId, call);
        if (earlier === undefined) continue;
        return answerAgain(articleId, request, earlier, call);
      }
      const base = (baseRevision === undefined ? live.texts : await findBase(articleId, baseRevision, live))[file];
      requireTextMatch(call, live.revision);
      const merged = judgeMerge(request, base, live.texts[file], live.revision);
      const task: EditTask = { request, base, live: live.texts[file], maxFileBytes: call.limits["article.file"] };
      // Edits of long texts run one at a time for each article. Of two identical concurrent requests, the second is planned on the
      // result of the first, so the text is written once.
      if (!isLightEdit(task) && !hasTurn) return inTurn(articleId, () => answerTo(articleId, request, call, answersCall, true));
      const planned = await texts.planEdit(ownerOf(call), task);
      const { contentHash, applied, rejected } = planned;
      if (dryRun) return { revision: live.revision, contentHash, merged, applied, rejected };
      let kept: EditResponse | undefined;
      const change = (document: Y.Doc, revision: number) => {
        const text = document.getText(file);
        const now = text.toString();
        requireTextMatch(call, revision);
        const mergedNow = judgeMerge(request, base, now, revision);
        const plan = planNow(task, planned, now, tries);
        if (plan === undefined) return undefined;
        const operations = joinNearest(now, plan.operations, maxPlacesIn(document));
        applyToText(text, operations);
        if (clientId !== undefined && operations.length > 0 && operations.every(({ insert }) => insert === "")) recordClientId(text);
        const answer = { contentHash: plan.contentHash, merged: mergedNow, applied, rejected };
        kept = { articleId, file, revision: revision + 1, ...answer };
        return answer;
      };
      const joined = isKept ? new JoinedCommit((append) => call.commit(append, kept)) : undefined;
      // With a precondition the append must fail if another node wrote meanwhile, because the check above saw only this node's text.
      // With a kept answer it must fail too, because the answer names the revision that follows the one above.
      const isExact = isKept || request.onConflict === "fail" || call.ifMatch !== undefined;
      const edited = await rooms.edit(articleId, authorOf(call), clientId, change, isExact, joined);
      if (edited.value !== undefined) return { revision: edited.revision, ...edited.value };
    }
  }

  return {
    async edit(articleId, request, call, { answersCall } = { answersCall: false }) {
      checkEditRequest(request, call.limits["article.file"]);
      const { file = "content.md", message, dryRun = false } = request;
      const answer: EditResponse = { articleId, file, ...(await answerTo(articleId, request, call, answersCall)) };
      if (message === undefined || dryRun) return answer;
      const toAnswer = ({ created, commit }: CommitReply): EditResponse => (created ? { ...answer, commitId: commit.commitId } : answer);
      return toAnswer(await commits.create(articleId, { message }, call, toAnswer));
    },
  };
}
