/**
 * Defines the executor: a plug-in that performs one type of step.
 *
 * An executor receives all its data and one function to write text, and returns a value. It never accesses storage,
 * rooms or actors. After a crash it may run again from the start. By then the text of the earlier attempt has been
 * reverted. It sends `idempotencyKey` to external services, so that they recognise the repeat.
 */

import type { Limits } from "../../../../api/limits.ts";
import type { ArticleFile } from "../../../../api/schema/article.ts";
import type { ArtifactKind, ArtifactMediaType, RunStepError, RunUsage } from "../../../../api/schema/run.ts";
import type { TopicSeoBrief, TopicSeoReviewSnapshot } from "../../../../api/schema/seo.ts";
import type { ContentTopic, WordCountRange } from "../../../../api/schema/topic.ts";
import type { WorkflowStep, WorkflowStepType } from "../../../../api/schema/workflow.ts";

export interface StepContext {
  readonly run: {
    readonly runId: string;
    readonly workspaceId: string;
    readonly workflowId: string;
    readonly articleId?: string;
    readonly instructions?: string;
    /** Text of the style chosen for the run. */
    readonly style?: string;
    /** How to write a draft. Default: `update` if a draft exists, otherwise `create`. */
    readonly action?: "create" | "update" | "optimize" | "rewrite";
  };
  readonly step: Pick<WorkflowStep, "name" | "type" | "tools" | "config"> & {
    /** From 1. */
    readonly attempt: number;
    /** Changes that people requested after earlier outputs of this step, oldest first. */
    readonly feedback: readonly string[];
    /** Article file that the output is written to. Absent if the step writes no file. */
    readonly file?: ArticleFile;
  };
  /** `<runId>/<step name>`; all attempts have the same key. */
  readonly idempotencyKey: string;
  /** Topic of the run. A legacy content type is already converted to `articleType` and `articleFormat`. */
  readonly topic?: ContentTopic;
  /** The stored brief of the topic, otherwise a brief projected from the topic's fields. */
  readonly brief?: TopicSeoBrief;
  /** Range of the topic, otherwise of the content project. If absent, the executor chooses a range by article type. */
  readonly wordCountRange?: WordCountRange;
  /** Title of the article, otherwise of the topic. */
  readonly title: string;
  /** Live texts when the step began. All are empty if there is no article. */
  readonly texts: Readonly<Record<ArticleFile, string>>;
  /** Output of the newest finished step of this type in this run, otherwise in the earlier runs of its chain. */
  output(type: WorkflowStepType): Promise<string | undefined>;
  /** Rest of the run's budget. An absent member means no limit. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  /**
   * Shows text live in the article while it is made. It has no effect if the step has no `file`. The text is written in
   * the background, in small batches. Awaiting the promise applies backpressure to fast text. It rejects if a write
   * failed. An executor that calls this function must return the complete text as `text` at the end.
   */
  write(text: string): Promise<void>;
  /** Aborts when the run is cancelled, the time of its budget is over, the lease is lost or the server drains. */
  readonly signal: AbortSignal;
  readonly limits: Limits;
  /** Unix milliseconds of store time. */
  now(): number;
}

export interface StepArtifact {
  readonly kind: ArtifactKind;
  readonly contentType: ArtifactMediaType;
  readonly text: string;
  /** Distinguishes several artifacts of one step. It is part of the artifact key. */
  readonly label?: string;
}

export type StepResult =
  | {
      readonly kind: "completed";
      /** Complete new text of the file, for a step that writes a file. */
      readonly text?: string;
      /** Artifacts of the step. Later steps read the first one as its output. */
      readonly artifacts: readonly StepArtifact[];
      /** One line for the timeline. */
      readonly summary?: string;
      readonly usage: RunUsage;
      /** SEO review to store in the topic's brief. */
      readonly review?: TopicSeoReviewSnapshot;
      /** Reason why the report has no findings about the article. The API shows it as the step's `error`. */
      readonly unavailable?: RunStepError;
    }
  | {
      readonly kind: "failed";
      /** An error code of the API, or `budget_exhausted` or `step_failed`. */
      readonly code: string;
      readonly message: string;
      /** True if a retry may succeed. */
      readonly retryable: boolean;
      readonly usage: RunUsage;
    };

/**
 * Performs a step. A thrown error means a bug or an infrastructure failure; the runtime then retries the step a few
 * times.
 */
export type Executor = (context: StepContext) => Promise<StepResult>;
/**
 * Executors by step type. If a type has none, a report step stores an "unavailable" report; `refuseStep` decides for
 * the others.
 */
export type Executors = Readonly<Partial<Record<WorkflowStepType, Executor>>>;
