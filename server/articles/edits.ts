/**
 * Edits of the live text by requests.
 *
 * An edit is worked out against the revision its writer read and carried onto the live text, so it meets the people
 * who type there as one more author. What others wrote since is never deleted. The plan is made outside the room, for
 * a long text in a thread; inside it is applied, and carried on over what was typed while it was made.
 *
 * An edit under an Idempotency-Key is the work of a client id of its own, drawn from the call's ids: a repeat after
 * a crash finds its id in the document, changes nothing and answers as the first attempt did. All other edits share
 * the room's id, for each one more makes a document heavier for good.
 */
import * as Y from "yjs";
import type { EditRequest, EditResponse } from "../../api/schema/article.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Rooms } from "../../realtime/rooms.ts";
import type { Call } from "../calls/call.ts";
import { requireTextMatch } from "../calls/precondition.ts";
import { type ArticleTexts, isLightEdit } from "./articleTexts.ts";
import { authorOf } from "./author.ts";
import type { Commits } from "./commits.ts";
import type { DocumentReader } from "./documentReader.ts";
import { checkEditRequest, type EditTask, finish, type PlannedEdit, planEdit } from "./editPlan.ts";
import { textsOfDocument, toContentHash } from "./fileTexts.ts";
import type { History } from "./history.ts";
import { carryOperations, joinNearest, unpackOperations } from "./merge.ts";
import type { FileTexts } from "./port.ts";
import { findChanged } from "./textDiff.ts";
import { applyToText, leaveMark, toClientId } from "./textUpdate.ts";
import { createTurns } from "./turns.ts";

export interface Edits {
  edit(articleId: string, request: EditRequest, call: Call): Promise<EditResponse>;
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
  /** Whether the document holds work of the client id that was asked about. */
  readonly known: boolean;
}

/** So much of a text may differ from the one the plan was made for; beyond it the plan is made anew, a few times. */
const maxMoved = 256 * 1024;
const maxTries = 4;
/** Edits of one long text. */
const maxWaiting = 10;

/** Each place takes longer the more pieces the document stands in: at 200,000 of them 2,000 places take 200 ms. */
function maxPlacesIn({ store }: Y.Doc): number {
  const pieces = [...store.clients.values()].reduce((sum, structs) => sum + structs.length, 0);
  return Math.max(100, Math.floor(20_000_000 / Math.max(pieces, 1)));
}

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
    const detail = `Revision ${baseRevision} was not committed and is not kept any more, or does not exist; read the article again.`;
    throw new AppError("revision_conflict", detail, { currentRevision: live.revision });
  }

  /**
   * The batch in which this call has written before; undefined when the client id is somebody else's, met by chance.
   * Refuses where the log is trimmed above the time of the call and cannot tell: a repeat never writes twice.
   */
  async function findEarlier(articleId: string, clientId: number, { nowMs }: Call): Promise<number | undefined> {
    for (let count = 256; ; count *= 4) {
      const { batches, before } = await reader.latest(articleId, count);
      const reachesBack = (batches[0]?.atMs ?? nowMs) < nowMs;
      if (!reachesBack && before === "kept") continue;
      const holds = ({ update }: { readonly update: Uint8Array }) => Y.parseUpdateMeta(update).to.has(clientId);
      const earlier = batches.find((batch) => batch.atMs >= nowMs && batch.updates.some(holds));
      if (earlier === undefined && !reachesBack && before === "trimmed") throw notKept(await reader.tail(articleId));
      return earlier?.revision;
    }
  }

  function notKept(currentRevision: number): AppError {
    const detail = "The edit was made by an earlier attempt, whose revision is not kept any more.";
    return new AppError("revision_conflict", detail, { currentRevision });
  }

  /** The answer of an earlier attempt, worked out again from what it found and left. */
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

  /** Whether the file was changed since the base; refuses when the caller wants none of that. */
  function judgeMerge({ baseRevision, onConflict }: EditRequest, base: string, live: string, currentRevision: number): boolean {
    const merged = baseRevision !== undefined && live !== base;
    if (!merged || onConflict !== "fail") return merged;
    throw new AppError("revision_conflict", "The file was changed since baseRevision; nothing was written.", { currentRevision });
  }

  /** The plan for the text as it has become while it was made; undefined when it is better made anew. */
  function planNow(task: EditTask, planned: PlannedEdit, live: string, tries: number): PlannedEdit | undefined {
    if (live === task.live) return planned;
    if (isLightEdit({ ...task, live })) return planEdit({ ...task, live });
    const { start, baseEnd, nextEnd } = findChanged(task.live, live);
    if (baseEnd - start + nextEnd - start > maxMoved && tries < maxTries) return undefined;
    const operations = planned.apart === undefined ? planned.operations : unpackOperations(planned.apart);
    return finish(live, carryOperations(operations, task.live, live), task.maxFileBytes, planned);
  }

  async function answerTo(articleId: string, request: EditRequest, call: Call, hasTurn = false): Promise<Answer> {
    const { file = "content.md", baseRevision, dryRun = false } = request;
    for (let tries = 1; ; tries += 1) {
      const clientId = call.isRepeatable ? toClientId(call.ids) : undefined;
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
      // The same long text sent twice at once is written once: the second is worked out on what the first one left.
      if (!isLightEdit(task) && !hasTurn) return inTurn(articleId, () => answerTo(articleId, request, call, true));
      const planned = await texts.planEdit(ownerOf(call), task);
      const { contentHash, applied, rejected } = planned;
      if (dryRun) return { revision: live.revision, contentHash, merged, applied, rejected };
      const change = (document: Y.Doc, revision: number) => {
        const text = document.getText(file);
        const now = text.toString();
        requireTextMatch(call, revision);
        const mergedNow = judgeMerge(request, base, now, revision);
        const plan = planNow(task, planned, now, tries);
        if (plan === undefined) return undefined;
        const operations = joinNearest(now, plan.operations, maxPlacesIn(document));
        applyToText(text, operations);
        if (clientId !== undefined && operations.length > 0 && operations.every(({ insert }) => insert === "")) leaveMark(text);
        return { contentHash: plan.contentHash, merged: mergedNow, applied, rejected };
      };
      // What was judged here must be so where it is stored, and another node may be writing at this moment.
      const isExact = request.onConflict === "fail" || call.ifMatch !== undefined;
      const edited = await rooms.edit(articleId, authorOf(call), clientId, change, isExact);
      if (edited.value !== undefined) return { revision: edited.revision, ...edited.value };
    }
  }

  return {
    async edit(articleId, request, call) {
      checkEditRequest(request, call.limits["article.file"]);
      const { file = "content.md", message, dryRun = false } = request;
      const answer: EditResponse = { articleId, file, ...(await answerTo(articleId, request, call)) };
      if (message === undefined || dryRun) return answer;
      const withCommit = (commitId: string): EditResponse => ({ ...answer, commitId });
      const { commit } = await commits.create(articleId, { message }, call, (reply) => withCommit(reply.commit.commitId));
      return withCommit(commit.commitId);
    },
  };
}
