/**
 * Executes the current step of a run once and returns its result as an event.
 *
 * It sends `step.started` first, in a commit that requires the lease of this due row. A node that lost the lease, or
 * that finds a cancelled run, stops before it does any work. The runtime retries an executor that throws. The result of
 * an executor ends the step in one commit with all its consequences, so a finished step is never executed again.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../../api/limits.ts";
import { AppError, type ErrorCode } from "../../../../api/schema/error.ts";
import { currentStep, noUsage, type RunContext, type RunEvent, type StepBase } from "../../../../machines/agentRun.ts";
import { WriteFenced } from "../../../../realtime/room/rooms.ts";
import type { After } from "../../../platform/actors/after.ts";
import { type ActorRuntime, CommitConflict, type EffectOutcome, type RunEffect, type Timeless } from "../../../platform/actors/port.ts";
import type { IdSource } from "../../../platform/storage/ids.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import type { Documents } from "../../articles/port.ts";
import { isInfrastructureError } from "../../call/infrastructureError.ts";
import type { Executors, StepResult } from "../executors/port.ts";
import { unavailableReports } from "../executors/unavailableReports.ts";
import type { RunKind } from "../model/records.ts";
import { type ArticleSession, type ArticleSessionOptions, openArticleSession } from "./articleSession.ts";
import type { Artifacts } from "./artifacts.ts";
import { watchRound } from "./roundWatch.ts";
import type { StepEnd } from "./stepEnd.ts";
import { type ReadStepInput, refuseStep, type StepInput, spentTime } from "./stepInput.ts";

export interface ExecuteOptions {
  readonly storage: Pick<Storage, "records" | "bus" | "now">;
  readonly actors: Pick<ActorRuntime, "send">;
  readonly kind: RunKind;
  readonly rooms: ArticleSessionOptions["rooms"];
  readonly writing: ArticleSessionOptions["writing"];
  readonly documents: Documents;
  readonly executors: Executors;
  readonly readInput: ReadStepInput;
  readonly artifacts: Pick<Artifacts, "make">;
  readonly stepEnd: Pick<StepEnd, "decide">;
  readonly ids: IdSource;
  readonly limits: Limits;
  readonly log: Logger;
  readonly after: After;
}

type Outcome = EffectOutcome<RunContext, RunEvent>;
type Guard = Parameters<RunEffect<RunContext, RunEvent>>[0]["guard"];

interface Execution {
  readonly runId: string;
  readonly round: number;
  readonly guard: Guard;
  /** Aborts when the lease is lost or the server drains. */
  readonly signal: AbortSignal;
}

/** Time that a stopped executor has to end by itself, so that its usage is counted. */
const graceMs = 1000;
/** Delay before the retry when the store or a room is unavailable. Such a retry does not count as a failed attempt. */
const infrastructureRetryMs = 5000;
const noTexts: ArticleSession["texts"] = { "content.md": "", "outline.md": "", "research.md": "" };
/** Errors of the article that end the step as failed. Any other error is a bug and is thrown. */
const endings: readonly ErrorCode[] = ["content_too_large", "content_not_accepted", "edit_too_complex", "not_found"];

export function createExecute(options: ExecuteOptions): RunEffect<RunContext, RunEvent> {
  const { storage, actors, kind, rooms, writing, documents, readInput, artifacts, stepEnd, ids, limits, log, after } = options;
  const executors: Executors = { ...unavailableReports, ...options.executors };

  /** Sends `step.started` to the run. Returns undefined if the run no longer wants the step. */
  async function begin({ runId, round, guard }: Execution, run: RunContext): Promise<RunContext | undefined> {
    const event: Timeless<RunEvent> = { type: "step.started", round, ...(await toWriting(run)) };
    try {
      return (await actors.send(kind, runId, event, { gather: (unit) => unit.require(guard) })).value.context;
    } catch (reason) {
      if (reason instanceof AppError && (reason.code === "invalid_transition" || reason.code === "not_found")) return undefined;
      // Another node has taken the lease of the row.
      if (reason instanceof CommitConflict && reason.conflict.kind === "due") return undefined;
      throw reason;
    }
  }

  /** Yjs client id for a step that writes, and the state of the file before it writes. */
  async function toWriting(run: RunContext): Promise<{ readonly writer?: number; readonly base?: StepBase }> {
    const file = currentStep(run).persistToArticle?.file;
    if (run.articleId === undefined || file === undefined) return {};
    const { revision, texts: found } = await documents.read(run.articleId);
    return { writer: drawWriter(ids), base: { revision, isBlank: found[file].trim() === "" } };
  }

  async function openSession({ guard }: Execution, run: RunContext, input: StepInput) {
    const { file } = input.context.step;
    const { writers, base } = currentStep(run);
    const writer = writers.at(-1);
    if (input.article === undefined || file === undefined || writer === undefined || base === undefined) return undefined;
    const before = base.isBlank ? "" : (await documents.readAt(input.article.articleId, base.revision))?.[file];
    return openArticleSession({
      rooms,
      documents,
      writing,
      after,
      now: storage.now,
      articleId: input.article.articleId,
      workspaceId: run.workspaceId,
      file,
      author: { username: run.startedBy, kind: "agent" },
      displayName: `${run.startedBy}'s agent`,
      writer,
      earlierWriters: writers.slice(0, -1),
      before,
      guard,
    });
  }

  async function readTexts(input: StepInput): Promise<ArticleSession["texts"]> {
    if (input.article === undefined) return noTexts;
    return (await documents.read(input.article.articleId)).texts;
  }

  /** Runs the executor until it ends, or until it was aborted and its grace period is over. */
  async function run(
    execution: Execution,
    context: RunContext,
    input: StepInput,
    session: ArticleSession | undefined,
  ): Promise<StepResult | "over"> {
    const step = currentStep(context);
    const executor = executors[step.type];
    if (executor === undefined) throw new Error(`there is no executor for ${step.type}`);
    const off = new AbortController();
    const lost = () => off.abort(new Error("the step lost its lease"));
    execution.signal.addEventListener("abort", lost, { once: true });
    if (execution.signal.aborted) lost();
    let isOver = false;
    const stopWatch = watchRound(storage, execution.runId, execution.round, () => {
      isOver = true;
      off.abort(new Error("the run no longer needs the step"));
    });
    const maxSeconds = context.budget?.maxSeconds;
    let isSpent = false;
    const stopDeadline =
      maxSeconds === undefined
        ? () => {}
        : after(maxSeconds * 1000 - context.workedMs, () => {
            isSpent = true;
            off.abort(new Error("the time budget of the run is used up"));
          });
    try {
      const texts = session?.texts ?? (await readTexts(input));
      const result = await raceWithAbort(
        executor({
          ...input.context,
          run: { ...input.context.run, ...toAction(input, texts) },
          texts,
          write: async (text) => session?.write(text),
          signal: off.signal,
          limits,
          now: storage.now,
        }),
        off.signal,
        after,
      );
      if (execution.signal.aborted) throw off.signal.reason;
      if (isOver) return "over";
      if (!isSpent) {
        if (result === undefined) throw new Error("the executor returned no result");
        return result;
      }
      const usage = result?.usage ?? noUsage;
      return { kind: "failed", code: "budget_exhausted", message: spentTime(maxSeconds ?? 0), retryable: true, usage };
    } finally {
      stopDeadline();
      stopWatch();
      execution.signal.removeEventListener("abort", lost);
    }
  }

  async function toOutcome(
    execution: Execution,
    context: RunContext,
    input: StepInput,
    session: ArticleSession | undefined,
    result: StepResult,
  ): Promise<Outcome> {
    const { runId, round } = execution;
    const fail = (code: string, message: string, retryable: boolean): Outcome => ({
      kind: "event",
      event: { type: "step.failed", round, code, message, retryable, usage: result.usage },
    });
    if (result.kind === "failed") return fail(result.code, result.message, result.retryable);
    const step = currentStep(context);
    const outputs = await artifacts.make({ runId, stepName: step.name, attempt: step.attempt, artifacts: result.artifacts });
    if (outputs.kind === "too_large") return fail("payload_too_large", outputs.message, false);
    const { articleId } = context;
    const finished = session === undefined || result.text === undefined ? undefined : await session.finish(result.text);
    const written =
      finished === undefined || articleId === undefined
        ? undefined
        : { articleId, revision: finished.revision, commits: step.persistToArticle?.createAutoVersion === true };
    return {
      kind: "decide",
      async decide(unit, previous) {
        const { usage, summary, review, unavailable } = result;
        const briefRevision = input.brief?.value.revision;
        const ended = { round, outputs, result: { usage, summary, review, unavailable }, written, briefRevision };
        const end = await stepEnd.decide(unit, ended, previous.value);
        if (!("kind" in end)) return end;
        const gone = { code: "not_found", message: "The article was deleted while the step wrote it.", retryable: false, usage };
        return { event: { type: "step.failed", round, ...gone } };
      },
    };
  }

  async function execute(execution: Execution, context: RunContext): Promise<Outcome> {
    const { round, runId } = execution;
    if (context.round !== round) return { kind: "done" };
    const { type } = currentStep(context);
    const refusal = refuseStep(context, executors[type] !== undefined, limits);
    if (refusal?.type === "step.skipped") return { kind: "event", event: { ...refusal, round } };
    if (refusal !== undefined) return { kind: "event", event: { ...refusal, round, usage: noUsage } };
    let session: ArticleSession | undefined;
    try {
      const begun = await begin(execution, context);
      if (begun === undefined) return { kind: "done" };
      const input = await readInput(runId, begun);
      const { articleId } = begun;
      const isGone = articleId !== undefined && (input.article === undefined || input.article.deletedAtMs !== undefined);
      // A deleted article can be neither written nor reviewed.
      if (isGone) throw new AppError("not_found", "The article of the run was deleted.");
      session = await openSession(execution, begun, input);
      const result = await run(execution, begun, input, session);
      if (result === "over") return { kind: "done" };
      return await toOutcome(execution, begun, input, session, result);
    } catch (reason) {
      if (!(reason instanceof AppError) || !endings.includes(reason.code)) throw reason;
      return {
        kind: "event",
        event: { type: "step.failed", round, code: reason.code, message: reason.message, retryable: false, usage: noUsage },
      };
    } finally {
      session?.close();
    }
  }

  return async ({ actorId: runId, params, context, signal, guard }) => {
    const { round } = params as { readonly round: number };
    try {
      return await execute({ runId, round, guard, signal }, context);
    } catch (reason) {
      if (signal.aborted || !isInfrastructureError(reason)) throw reason;
      // The run was cancelled, or another node holds the lease of the step.
      if (reason instanceof WriteFenced) log.info({ runId, round }, "step stopped: the run was cancelled, or another node holds its lease");
      else log.warn({ err: reason, runId, round }, "step postponed: it cannot run at the moment");
      return { kind: "retry", atMs: storage.now() + infrastructureRetryMs, reason: (reason as Error).message };
    }
  };
}

/** Default action of a draft step without an action: `create` if the file is blank, otherwise `update`. */
function toAction({ context: { run, step } }: StepInput, texts: ArticleSession["texts"]): Pick<StepInput["context"]["run"], "action"> {
  if (step.type !== "draft" || run.action !== undefined) return {};
  return { action: texts[step.file ?? "content.md"].trim() === "" ? "create" : "update" };
}

/** Draws a new random Yjs client id, so all content under this id belongs to this attempt. */
function drawWriter(ids: IdSource): number {
  return Buffer.from(ids.bytes(4)).readUInt32BE();
}

/**
 * Result of the executor; `undefined` if the executor was aborted and did not end in the grace period. A later result
 * is ignored.
 */
function raceWithAbort(result: Promise<StepResult>, signal: AbortSignal, after: After): Promise<StepResult | undefined> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const onAbort = () => {
      stop = after(graceMs, () => resolve(undefined));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    result
      .then(resolve, (reason: unknown) => (signal.aborted ? resolve(undefined) : reject(reason)))
      .finally(() => {
        stop();
        signal.removeEventListener("abort", onAbort);
      });
  });
}
