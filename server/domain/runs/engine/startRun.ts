/**
 * Prepares the changes that start a run: the run, a missing article, a missing brief, and the events of the topic.
 *
 * It checks that the target fits the workflow and decides which approvals apply. It commits nothing; the caller adds
 * the changes to its own commit. A unique rule of the store allows at most one active run (`runInProgress.ts`).
 */
import type { Limits } from "../../../../api/limits.ts";
import type { Author } from "../../../../api/schema/article.ts";
import { AppError, notFound } from "../../../../api/schema/error.ts";
import type { RunBudget } from "../../../../api/schema/run.ts";
import type { RunPipeline } from "../../../../api/schema/topicOperations.ts";
import type { WorkflowStepType } from "../../../../api/schema/workflow.ts";
import type { RunContext, RunInput } from "../../../../machines/agentRun.ts";
import type { RunStage, TopicEvent } from "../../../../machines/topic.ts";
import type { ActorChange, ActorRuntime, Timeless } from "../../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import type { ArticleWriter } from "../../articles/port.ts";
import { type ArticleRecord, articleRecord } from "../../articles/records.ts";
import { present } from "../../call/present.ts";
import { foldMoves, leftBy, type Part } from "../../call/together.ts";
import { workspaceRecord } from "../../identity/workspaces/records.ts";
import type { TopicRecord, Topics } from "../../topics/port.ts";
import { topicRecord } from "../../topics/records.ts";
import type { RunKind } from "../model/records.ts";
import { toAppliedApproval, toApprovalMode } from "../workflows/approvalPolicy.ts";
import type { RunTarget, Workflow } from "../workflows/builtInWorkflows.ts";

export interface StartRunParams {
  readonly runId: string;
  readonly workspaceId: string;
  readonly workflow: Workflow;
  readonly topic?: Stored<TopicRecord> | undefined;
  /** Target article, used only if `topic` is absent. */
  readonly article?: ArticleRecord | undefined;
  readonly folderId?: string | undefined;
  /** The user who starts the run and for whom the run writes. */
  readonly by: { readonly username: string; readonly accountId: string; readonly kind: Author["kind"] };
  readonly ids: IdSource;
  readonly nowMs: number;
  readonly pipeline?: RunPipeline | undefined;
  readonly instructions?: string | undefined;
  readonly styleProfileId?: string | undefined;
  readonly action?: RunContext["action"];
  readonly budget?: RunBudget | undefined;
  readonly parentRunId?: string | undefined;
  /** Id of the workflow whose run starts after this one completes. */
  readonly chains?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Initial feedback for the steps of this type. */
  readonly feedback?: { readonly stepType: WorkflowStepType; readonly text: string } | undefined;
}

export interface PreparedRun {
  readonly run: ActorChange<RunContext>;
  readonly articleId?: string;
  /** All changes except the moves of the topic. */
  readonly parts: readonly Part[];
  /** Events for the topic, in this order. They come after other events of the topic in the same commit. */
  readonly topicEvents: readonly Timeless<TopicEvent>[];
}

export interface RunStarter {
  prepare(wish: StartRunParams): Promise<PreparedRun>;
  /** State of the topic after these changes. */
  topicLeftBy(parts: readonly Part[], topic: TopicRecord): TopicRecord;
  /** Adds the moves that these events cause in the topic to the changes. */
  withTopic(parts: readonly Part[], topic: Stored<TopicRecord>, events: readonly Timeless<TopicEvent>[]): readonly Part[];
}

export interface RunStarterOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "birth">;
  readonly kind: () => RunKind;
  readonly topics: Pick<Topics, "move" | "view" | "contentProject" | "brief" | "projectBrief" | "briefWrite">;
  readonly articles: Pick<ArticleWriter, "prepareArticle">;
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
export async function requireLiveArticle(storage: Pick<Storage, "records">, articleId: string, who: string): Promise<ArticleRecord> {
  const article = (await storage.records.get(articleRecord, articleId))?.value;
  if (article !== undefined && article.deletedAtMs === undefined) return article;
  const isGone = article === undefined;
  const detail = `The article that ${who} works on ${isGone ? "was deleted permanently" : "is in the trash. Restore it first"}.`;
  throw new AppError("invalid_transition", detail, { currentState: "article_deleted", allowed: isGone ? [] : ["articles.undelete"] });
}

export function createRunStarter({ storage, actors, kind, topics, articles, limits }: RunStarterOptions): RunStarter {
  async function findArticle({ topic, article, workflow }: StartRunParams): Promise<ArticleRecord | undefined> {
    if (topic === undefined) return article;
    const { articleId } = topic.value.context;
    if (articleId === undefined) return undefined;
    return requireLiveArticle(storage, articleId, `a run of ${workflow.id}`);
  }

  return {
    async prepare(wish) {
      requireTarget(wish);
      const { runId, workspaceId, workflow, topic, by, ids, nowMs, feedback } = wish;
      const partition = partitionOfId(workspaceId);
      const workspace = await storage.records.get(workspaceRecord, workspaceId);
      if (workspace === undefined) throw notFound();
      const project = topic === undefined ? undefined : await topics.contentProject(topic.value);
      const writes = workflow.steps.some(({ persistToArticle }) => persistToArticle !== undefined);
      const parts: Part[] = [];
      const topicEvents: Timeless<TopicEvent>[] = [];
      let articleId = (await findArticle(wish))?.articleId;

      if (articleId === undefined && topic !== undefined) {
        if (!writes) throw refuseTarget("/topicId", `${workflow.id} needs a topic with an article`);
        const made = await articles.prepareArticle({
          workspace: workspace.value,
          title: topic.value.context.fields.title,
          topicId: topic.value.id,
          author: { username: by.username, kind: by.kind },
          ids,
        });
        articleId = made.articleId;
        parts.push(made.change);
        topicEvents.push({ type: "article.link", articleId, by: by.username });
      }
      if (topic !== undefined && workflow.steps.some(({ type }) => fromBrief.includes(type))) {
        const stored = await topics.brief(topic.value.id);
        if (stored === undefined) {
          const brief = topics.projectBrief(topics.view(topic.value), { username: by.username, runId, nowMs });
          parts.push({ records: [topics.briefWrite(brief, null)] });
          topicEvents.push({ type: "topic.update", changes: { seoBriefRevision: brief.revision }, editorial: false, by: by.username });
        }
      }

      const steps = workflow.steps.map((step): RunInput["steps"][number] => {
        const approval = toAppliedApproval(step, project);
        return {
          ...step,
          approval,
          ...present({
            approvalId: approval === "none" ? undefined : ids.next("apr", partition),
            feedback: feedback?.stepType === step.type ? [feedback.text] : undefined,
          }),
        };
      });
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
          pipeline: wish.pipeline,
          topicId: topic?.value.id,
          articleId,
          folderId: wish.folderId,
          instructions: wish.instructions,
          styleProfileId: wish.styleProfileId ?? project?.styleProfileId,
          action: wish.action,
          budget: wish.budget,
          parentRunId: wish.parentRunId,
          chains: wish.chains,
          traceparent: wish.traceparent,
        }),
      };
      const run = actors.birth(kind(), runId, input);
      topicEvents.push({ type: "run.start", startedRun: { runId, stages: stagesOf(workflow) }, by: by.username });
      return { run, parts: [...parts, run], topicEvents, ...present({ articleId }) };
    },

    topicLeftBy: (parts, topic) => leftBy(parts, topicRecord, topic),
    withTopic: (parts, topic, events) =>
      foldMoves(
        parts,
        topicRecord,
        topic,
        events.map((event) => (from) => topics.move(from, event)),
      ),
  };
}
