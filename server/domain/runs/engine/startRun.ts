/**
 * Starts a run in a unit of work: the run, a missing article, a missing brief, and the events of the topic.
 *
 * It checks that the target fits the workflow and decides which approvals apply. It commits nothing. A unique rule of
 * the store allows at most one active run (`runInProgress.ts`).
 */
import type { Limits } from "../../../../api/limits.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type { RunBudget } from "../../../../api/schema/run.ts";
import type { RunPipeline } from "../../../../api/schema/topicOperations.ts";
import type { WorkflowStepType } from "../../../../api/schema/workflow.ts";
import type { RunContext, RunInput } from "../../../../machines/agentRun.ts";
import type { RunStage } from "../../../../machines/topic.ts";
import type { UnitOfWork } from "../../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import type { ArticleWriter } from "../../articles/port.ts";
import { type ArticleRecord, articleRecord } from "../../articles/records.ts";
import { present } from "../../call/present.ts";
import { type WorkspaceRecord, workspaceRecord } from "../../identity/workspaces/records.ts";
import type { ContentProject, TopicRecord, Topics } from "../../topics/port.ts";
import type { RunKind, RunRecord } from "../model/records.ts";
import type { StartedBy } from "../model/startedBy.ts";
import { toAppliedApproval, toApprovalMode } from "../workflows/approvalPolicy.ts";
import type { RunTarget, Workflow } from "../workflows/builtInWorkflows.ts";

export interface StartRunParams {
  readonly runId: string;
  readonly workspaceId: string;
  readonly workflow: Workflow;
  /** The topic as the unit leaves it. */
  readonly topic?: TopicRecord | undefined;
  /** Target article, used only if `topic` is absent. */
  readonly article?: Stored<ArticleRecord> | undefined;
  readonly folderId?: string | undefined;
  readonly by: StartedBy;
  readonly ids: IdSource;
  readonly nowMs: number;
  readonly pipeline?: RunPipeline | undefined;
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
  readonly action?: RunContext["action"];
  readonly budget?: RunBudget | undefined;
  readonly parentRunId?: string | undefined;
  /**
   * True if the unit also ends the active run that this one continues. Moving the article to the trash cancels that run,
   * so the two commits exclude each other already, and the unit may have written the article's record.
   */
  readonly isChained?: boolean;
  /** Id of the workflow whose run starts after this one completes. */
  readonly chains?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Initial feedback for the steps of this type. */
  readonly feedback?: { readonly stepType: WorkflowStepType; readonly text: string } | undefined;
}

/** Starts a run in the unit and sends the topic its events. Throws if the target does not fit the workflow. */
export type StartRun = (unit: UnitOfWork, params: StartRunParams) => Promise<StartedRun>;

export interface StartedRun {
  readonly run: RunRecord;
  readonly articleId?: string;
}

function writesArticle({ steps }: Workflow): boolean {
  return steps.some(({ persistToArticle }) => persistToArticle !== undefined);
}

export interface StartRunOptions {
  readonly storage: Pick<Storage, "records">;
  readonly kind: RunKind;
  readonly topics: Pick<Topics, "send" | "refusal" | "view" | "contentProject" | "brief" | "projectBrief" | "writeBrief">;
  readonly articles: Pick<ArticleWriter, "create" | "hold">;
  readonly limits: Limits;
}

/** Steps of these types need the topic's brief. If the topic has none, the start of the run creates it. */
const fromBrief: readonly WorkflowStepType[] = ["outline", "draft", "seo_review"];

function refuseTarget(pointer: string, message: string): AppError {
  return new AppError("validation_failed", `The target does not fit the workflow: ${message}.`, {
    errors: [{ pointer, code: "unfitting_target", message }],
  });
}

function requireTarget({ workflow, topic, article, folderId }: StartRunParams): void {
  const target: RunTarget = topic !== undefined ? "topic" : article !== undefined ? "article" : folderId !== undefined ? "folder" : "none";
  if (workflow.targets.includes(target)) return;
  const wanted = workflow.targets.map((name) => (name === "none" ? "nothing" : `a ${name}`)).join(" or ");
  throw refuseTarget(target === "none" ? "" : `/${target}Id`, `${workflow.id} runs for ${wanted.replace("a article", "an article")}`);
}

/** Stages of the topic's lifecycle that a run with these steps belongs to. */
export function stagesOf({ steps }: { readonly steps: readonly { readonly type: WorkflowStepType }[] }): readonly RunStage[] {
  const types = steps.map(({ type }) => type);
  const later = (["outline", "draft"] as const).filter((stage) => types.includes(stage));
  if (later.length > 0) return later;
  return types.includes("research") ? ["research"] : [];
}

/** Returns the article. Throws `invalid_transition` if the article is in the trash or was deleted permanently. */
export async function requireLiveArticle(
  storage: Pick<Storage, "records">,
  articleId: string,
  who: string,
): Promise<Stored<ArticleRecord>> {
  const article = await storage.records.get(articleRecord, articleId);
  if (article !== undefined && article.value.deletedAtMs === undefined) return article;
  const isGone = article === undefined;
  const detail = `The article that ${who} works on ${isGone ? "was deleted permanently" : "is in the trash. Restore it first"}.`;
  throw new AppError("invalid_transition", detail, { currentState: "article_deleted", allowed: isGone ? [] : ["articles.undelete"] });
}

export function createStartRun({ storage, kind, topics, articles, limits }: StartRunOptions): StartRun {
  async function findArticle({ topic, article, workflow }: StartRunParams): Promise<Stored<ArticleRecord> | undefined> {
    if (topic === undefined) return article;
    const { articleId } = topic.context;
    if (articleId === undefined) return undefined;
    return requireLiveArticle(storage, articleId, `a run of ${workflow.id}`);
  }

  /** Creates an article for the topic and links both. Returns the article id. */
  async function createArticle(unit: UnitOfWork, workspace: WorkspaceRecord, topic: TopicRecord, { by, ids, workflow }: StartRunParams) {
    if (!writesArticle(workflow)) throw refuseTarget("/topicId", `${workflow.id} needs a topic with an article`);
    const { title } = topic.context.fields;
    const author = { username: by.username, kind: by.kind };
    const articleId = await articles.create(unit, { workspace, title, topicId: topic.id, author, ids });
    await topics.send(unit, topic.id, { type: "article.link", articleId, by: by.username });
    return articleId;
  }

  /** Creates the topic's brief if a step of the workflow needs it and the topic has none. */
  async function requireBrief(unit: UnitOfWork, topic: TopicRecord, { workflow, by, runId, nowMs }: StartRunParams): Promise<void> {
    const isNeeded = workflow.steps.some(({ type }) => fromBrief.includes(type));
    if (!isNeeded || (await topics.brief(topic.id)) !== undefined) return;
    const { username } = by;
    const brief = topics.projectBrief(topics.view(topic), { username, runId, nowMs });
    topics.writeBrief(unit, brief, null);
    const changes = { seoBriefRevision: brief.revision };
    await topics.send(unit, topic.id, { type: "topic.update", changes, editorial: false, by: username });
  }

  function toSteps({ workspaceId, workflow, ids, feedback }: StartRunParams, project: ContentProject | undefined): RunInput["steps"] {
    return workflow.steps.map((step) => {
      const approval = toAppliedApproval(step, project);
      return {
        ...step,
        approval,
        ...present({
          approvalId: approval === "none" ? undefined : ids.next("apr", partitionOfId(workspaceId)),
          feedback: feedback?.stepType === step.type ? [feedback.text] : undefined,
        }),
      };
    });
  }

  return async (unit, params) => {
    requireTarget(params);
    const { runId, workspaceId, workflow, topic, by } = params;
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    if (workspace === undefined) throw notFound();
    const runStart = { type: "run.start", startedRun: { runId, stages: stagesOf(workflow) }, by: by.username } as const;
    // The refusal must name the start of the run, not one of the changes that the start needs.
    const refusal = topic === undefined ? undefined : topics.refusal(topic, runStart);
    if (refusal !== undefined) throw refusal;
    const project = topic === undefined ? undefined : await topics.contentProject(topic);
    const article = await findArticle(params);
    // Moving the article to the trash cancels its active runs, so it must not happen beside the start of another one.
    if (article !== undefined && params.isChained !== true) articles.hold(unit, article);
    let articleId = article?.value.articleId;
    if (topic !== undefined) {
      articleId ??= await createArticle(unit, workspace.value, topic, params);
      await requireBrief(unit, topic, params);
    }
    const steps = toSteps(params, project);
    const input: Omit<RunInput, "nowMs"> = {
      workspaceId,
      workflowId: workflow.id,
      workflowVersion: workflow.version,
      approvalMode: toApprovalMode(steps.map(({ approval }) => approval)),
      optionalApprovalMs: limits["run.optionalApproval"],
      startedBy: by.username,
      startedByAccountId: by.accountId,
      steps,
      ...present({
        pipeline: params.pipeline,
        topicId: topic?.id,
        articleId,
        folderId: params.folderId,
        instructions: params.instructions,
        styleProfileId: params.styleProfileId ?? project?.styleProfileId,
        action: params.action,
        budget: params.budget,
        parentRunId: params.parentRunId,
        chains: params.chains,
        traceparent: params.traceparent,
      }),
    };
    const run = unit.create(kind, runId, input);
    if (topic !== undefined) await topics.send(unit, topic.id, runStart);
    return { run, ...present({ articleId }) };
  };
}
