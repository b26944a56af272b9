/**
 * What an executor is: the plug-in that does one type of step.
 *
 * It is given everything it may know and one way to write, and answers with a value; it never touches storage,
 * rooms or actors. It may be run again from the start after a crash: what an earlier attempt wrote has been taken
 * back by then, and `idempotencyKey` is what outside services are told.
 */

import type { Limits } from "../../../api/limits.ts";
import type { ArticleFile } from "../../../api/schema/article.ts";
import type { ArtifactKind, RunUsage } from "../../../api/schema/run.ts";
import type { TopicSeoBrief, TopicSeoReviewSnapshot } from "../../../api/schema/seo.ts";
import type { ContentTopic, WordCountRange } from "../../../api/schema/topic.ts";
import type { WorkflowStep, WorkflowStepType } from "../../../api/schema/workflow.ts";

export interface StepContext {
  readonly run: {
    readonly runId: string;
    readonly workspaceId: string;
    readonly workflowId: string;
    readonly articleId?: string;
    readonly instructions?: string;
    /** Text of the style chosen for the run. */
    readonly style?: string;
    /** How to go about a draft; absent: create, or update where there is one. */
    readonly action?: "create" | "update" | "optimize" | "rewrite";
  };
  readonly step: Pick<WorkflowStep, "name" | "type" | "tools" | "config"> & {
    /** From 1. */
    readonly attempt: number;
    /** What people asked for after earlier outputs of this step, oldest first. */
    readonly feedback: readonly string[];
    /** Where the output is persisted. */
    readonly file?: ArticleFile;
  };
  /** `<runId>/<step name>`: the same over all attempts. */
  readonly idempotencyKey: string;
  /** With articleType and articleFormat filled in. */
  readonly topic?: ContentTopic;
  /** The stored brief of the topic, or what is projected from the topic. */
  readonly brief?: TopicSeoBrief;
  /** The topic's own, else the content project's; absent: the executor chooses by article type. */
  readonly wordCountRange?: WordCountRange;
  /** Title of the article, else of the topic. */
  readonly title: string;
  /** Live text when the step began; all empty without an article. */
  readonly texts: Readonly<Record<ArticleFile, string>>;
  /** Text that the newest finished step of this type made in this run, or in the run before it in the chain. */
  output(type: WorkflowStepType): Promise<string | undefined>;
  /** What is left of the run's budget; absent members are unbounded. */
  readonly budget: { readonly tokens?: number; readonly usd?: number };
  /**
   * Shows text live in the article as it is made; only where the step has a `file`. Written in the
   * background, a little at a time; awaiting it is the brake for text that comes faster, and throws when writing has failed.
   * Whoever writes so returns the same text whole as `text` at the end.
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
  readonly contentType: "text/markdown" | "application/json";
  readonly text: string;
  /** Tells several artifacts of one step apart; part of the key. */
  readonly label?: string;
}

export type StepResult =
  | {
      readonly kind: "completed";
      /** For a step that persists: the file's whole new text. */
      readonly text?: string;
      /** The first is what later steps read. */
      readonly artifacts: readonly StepArtifact[];
      /** One line for the timeline. */
      readonly summary?: string;
      readonly usage: RunUsage;
      /** Kept with the topic's brief. */
      readonly review?: TopicSeoReviewSnapshot;
    }
  /** Nothing was done, and why. */
  | { readonly kind: "skipped"; readonly code: string; readonly reason: string }
  | {
      readonly kind: "failed";
      /** One of the API's codes, or budget_exhausted, step_failed. */
      readonly code: string;
      readonly message: string;
      /** A retry may end otherwise. */
      readonly retryable: boolean;
      readonly usage: RunUsage;
    };

/** A thrown error is a bug or lost infrastructure: the step is tried again, a few times. */
export type Executor = (context: StepContext) => Promise<StepResult>;
/** What has no executor is skipped with a reason. */
export type Executors = Readonly<Partial<Record<WorkflowStepType, Executor>>>;
