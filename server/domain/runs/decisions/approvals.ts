/**
 * Lists the approvals of a run and resolves each of them once, even before the run waits for it.
 *
 * Edits that come with a decision are made first, like any other edit. They are committed together with the decision,
 * so the approved text includes them.
 */
import type { EditRequest } from "../../../../api/schema/article.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type { Approval, ApprovalDecision } from "../../../../api/schema/run.ts";
import { currentStep } from "../../../../machines/agentRun.ts";
import type { ActorRuntime, UnitOfWork } from "../../../platform/actors/port.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import type { ArticleWriter } from "../../articles/port.ts";
import type { ArticleService } from "../../articles/service.ts";
import type { Call } from "../../call/call.ts";
import type { PageTokens } from "../../call/pageToken.ts";
import type { Page, PageQuery } from "../../call/paging.ts";
import { principalOf, requireScopes } from "../../call/principal.ts";
import { checkProse } from "../../call/prose.ts";
import { refuseField } from "../../call/refuseField.ts";
import { type RunKind, type RunRecord, runRecord } from "../model/records.ts";
import type { RefuseSecondRun } from "../model/runInProgress.ts";
import { toApprovalView } from "../model/runView.ts";
import { type Decisions, findApproval } from "./decisions.ts";

export interface ResolveApproval {
  readonly decision: ApprovalDecision;
  readonly note?: string | undefined;
  readonly edits?: EditRequest | undefined;
}

export interface Approvals {
  /** Approvals in order of creation: first in step order, then those created after requests for changes. */
  list(call: Call, runId: string, page: PageQuery): Promise<Page<Approval>>;
  resolve(call: Call, runId: string, approvalId: string, request: ResolveApproval): Promise<Approval>;
}

export interface ApprovalsOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly kind: RunKind;
  readonly pageTokens: PageTokens;
  readonly decisions: Decisions;
  readonly edits: ArticleService["edits"];
  readonly articles: Pick<ArticleWriter, "commit">;
  readonly refuseSecondRun: RefuseSecondRun;
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { storage, actors, kind, pageTokens, decisions, edits, articles, refuseSecondRun } = options;

  async function find(runId: string): Promise<Stored<RunRecord>> {
    const run = await storage.records.get(runRecord, runId);
    if (run === undefined) throw notFound();
    return run;
  }

  /** Makes the edits and returns the id of the edited article. */
  async function edit(call: Call, { context }: RunRecord, stepName: string, request: EditRequest): Promise<string> {
    const { articleId } = context;
    if (articleId === undefined || request.dryRun === true) {
      const message = articleId === undefined ? "cannot be made: the run has no article" : "cannot be a dry run";
      throw new AppError("validation_failed", `The edits ${message}.`, { errors: [{ pointer: "/edits", code: "not_possible", message }] });
    }
    const { message: _message, ...rest } = request;
    const file = request.file ?? context.steps.find(({ name }) => name === stepName)?.persistToArticle?.file;
    await edits.edit(articleId, file === undefined ? rest : { ...rest, file }, call);
    return articleId;
  }

  async function commitEdits(unit: UnitOfWork, call: Call, articleId: string, message: string): Promise<void> {
    const committed = await articles.commit(unit, {
      articleId,
      commitId: call.ids.next("cmt", partitionOfId(articleId)),
      kind: "commit",
      message,
      committer: principalOf(call).username,
      ids: call.ids,
      traceparent: call.traceparent,
    });
    if (committed.kind === "deleted") throw notFound();
    if (committed.kind === "behind") {
      throw new AppError("unavailable", "This node has not yet read the newest edits of the article; retry shortly.", { retryAfter: 1 });
    }
  }

  return {
    async list(call, runId, { limit, nextToken }) {
      const { approvals } = (await find(runId)).value.context;
      const most = call.limits["list.limitMax"];
      const count = limit ?? Math.min(call.limits["list.limitDefault"], most);
      if (count > most) throw refuseField("limit", `must be at most ${most}`);
      const binding = `approvals/${runId}`;
      const nowMs = storage.now();
      const from = nextToken === undefined ? 0 : Number(pageTokens.open(binding, nextToken, nowMs)[1]);
      const items = approvals.slice(from, from + count).map((approval) => toApprovalView(runId, approval));
      if (from + count >= approvals.length) return { items };
      return { items, nextToken: pageTokens.seal(binding, ["approval", from + count], nowMs + call.limits["keep.nextToken"]) };
    },

    async resolve(call, runId, approvalId, request) {
      if (request.edits !== undefined) requireScopes(call, ["workspaces:write", "articles:write"]);
      checkProse(call.limits, request);
      const { decision, note } = request;
      const { username: by } = principalOf(call);
      const first = (await find(runId)).value;
      const { stepName } = decisions.requireOpen(first, approvalId);
      const edited = request.edits === undefined ? undefined : await edit(call, first, stepName, request.edits);
      return refuseSecondRun(() =>
        actors.commitUnit({ operation: "run.decide", partition: partitionOfId(runId), committer: call }, async (unit) => {
          const run = await unit.read(kind, runId);
          if (run === undefined) throw notFound();
          const message = request.edits?.message ?? `Edited with the decision about ${currentStep(run.value.context).name}`;
          if (edited !== undefined) await commitEdits(unit, call, edited, message);
          const decided = await decisions.decide(unit, { runId, approvalId, decision, note, by, ids: call.ids });
          return toApprovalView(runId, findApproval(decided.run, approvalId));
        }),
      );
    },
  };
}
