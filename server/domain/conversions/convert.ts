/**
 * Performs the effect of a conversion: reads the input, converts it or reuses an equal output, and stores the result.
 *
 * The conversion stays queued while its input is read and while the converter works on other documents. Then its start is
 * recorded in a commit that requires the lease of the due row. A process that lost the row, or finds the conversion
 * deleted, stops there. The document does not cause a failure of the store or of the converter's process, so the repeat
 * after such a failure does not count as an attempt. The output is stored as a blob first; its hash, the article of the
 * target and the new state are one commit.
 */
import type { Logger } from "pino";
import { AppError, type ErrorCode } from "../../../api/schema/error.ts";
import type { ConversionContext, ConversionEvent } from "../../../machines/conversion.ts";
import { type ActorRuntime, CommitConflict, type EffectOutcome, type RunEffect } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Storage, StorageDamagedError } from "../../platform/storage/port.ts";
import { isInfrastructureError } from "../call/infrastructureError.ts";
import type { ConversionKind } from "./conversionKind.ts";
import { watchDeletion } from "./conversionWatch.ts";
import type { Converter } from "./converterPort.ts";
import type { MadeOutput, OutputCache } from "./outputCache.ts";
import type { Quota } from "./quota.ts";
import { type ConversionRecord, conversionRecord, hasEnded } from "./records.ts";
import type { Failure, FetchedSource, SourceFetch } from "./sourceFetch.ts";
import type { Targets } from "./targets.ts";

export interface ConvertOptions {
  readonly storage: Pick<Storage, "records" | "blobs" | "bus" | "now">;
  readonly actors: Pick<ActorRuntime, "send">;
  readonly kind: ConversionKind;
  readonly converter: Converter;
  readonly cache: OutputCache;
  readonly fetchSource: SourceFetch;
  readonly targets: Targets;
  readonly quota: Pick<Quota, "findExcess">;
  /** Id of this process. */
  readonly nodeId: string;
  readonly log: Logger;
}

type Effect = Parameters<RunEffect<ConversionContext, ConversionEvent>>[0];
type Outcome = EffectOutcome<ConversionContext, ConversionEvent>;

/** Delay before the repeat when the store, a document or the converter is unavailable. */
const infrastructureRetryMs = 5000;
/** Errors of the target that end the conversion as failed. Any other error is a bug and is thrown. */
const endings: readonly ErrorCode[] = ["content_too_large", "content_not_accepted", "edit_too_complex", "not_found"];

export function createConvert(options: ConvertOptions): RunEffect<ConversionContext, ConversionEvent> {
  const { storage, actors, kind, converter, cache, fetchSource, targets, quota, nodeId, log } = options;

  /** Records the start. Returns undefined if the conversion is over, was deleted, or belongs to another process by now. */
  async function begin({ actorId, attempt, guard }: Effect): Promise<ConversionRecord | undefined> {
    try {
      const event = { type: "convert.started", process: nodeId, attempt } as const;
      const { value } = await actors.send(kind, actorId, event, { gather: (unit) => unit.require(guard) });
      return value.state === "running" ? value : undefined;
    } catch (reason) {
      if (reason instanceof AppError && (reason.code === "invalid_transition" || reason.code === "not_found")) return undefined;
      if (reason instanceof CommitConflict && reason.conflict.kind === "due") return undefined;
      throw reason;
    }
  }

  async function readInput({ id, context }: ConversionRecord, signal: AbortSignal): Promise<FetchedSource> {
    const { input, source } = context;
    if (input === undefined) {
      if (source.url === undefined) throw new Error(`the conversion ${id} has no input`);
      return fetchSource(source.url, context, signal);
    }
    const bytes = await storage.blobs.get(partitionOfId(id), input.sha256);
    if (bytes === undefined) throw new StorageDamagedError(`the input ${input.sha256} of conversion ${id} is missing`);
    return { ok: true, bytes };
  }

  /** Returns undefined if this process has lost the conversion: to another process, or because it was deleted. */
  async function make(effect: Effect, { id, context }: ConversionRecord, bytes: Uint8Array, cacheKey: string, signal: AbortSignal) {
    const kept = await cache.find(id, context, cacheKey);
    if (kept !== undefined) return (await begin(effect)) === undefined ? undefined : ({ ok: true, ...kept } as const);
    const { from, to, title } = context;
    let isOver = false;
    const outcome = await converter.convert({
      ...{ from, to, bytes, signal, ...(title === undefined ? {} : { title }) },
      async begin() {
        isOver = (await begin(effect)) === undefined;
        return !isOver;
      },
    });
    signal.throwIfAborted();
    return isOver ? undefined : outcome;
  }

  /** Ends the conversion with its output, in one commit with the article of the target. */
  async function toEnd({ guard }: Effect, { id, context }: ConversionRecord, output: MadeOutput, cacheKey: string): Promise<Outcome> {
    const { bytes, contentType, fidelity } = output;
    const target = await targets.prepare(context, bytes, guard);
    return {
      kind: "decide",
      async decide(unit) {
        const sha256 = await storage.blobs.put(partitionOfId(id), bytes);
        const error = await target?.add(unit);
        if (error !== undefined) return { event: { type: "convert.failed", error } };
        const [mediaType = ""] = contentType.split(";");
        const stored = { sha256, bytes: bytes.length, contentType: mediaType };
        return { event: { type: "convert.succeeded", output: stored, fidelity, cacheKey } };
      },
    };
  }

  async function perform(effect: Effect, signal: AbortSignal, conversion: ConversionRecord): Promise<Outcome> {
    const read = await readInput(conversion, signal);
    if (!read.ok) return (await begin(effect)) === undefined ? { kind: "done" } : toFailed(read.error);
    const cacheKey = cache.keyOf(conversion.context, read.bytes);
    const made = await make(effect, conversion, read.bytes, cacheKey, signal);
    if (made === undefined) return { kind: "done" };
    if (!made.ok) return toFailed({ code: made.code, message: made.detail });
    // Checked before the target is changed, because a conversion that fails changes nothing.
    const excess = await quota.findExcess(conversion.context, made.bytes.length);
    if (excess !== undefined) return toFailed(excess);
    return toEnd(effect, conversion, made, cacheKey);
  }

  return async (effect) => {
    const deleted = new AbortController();
    let stopWatch = () => {};
    try {
      const conversion = (await storage.records.get(conversionRecord, effect.actorId))?.value;
      if (conversion === undefined || hasEnded(conversion)) return { kind: "done" };
      stopWatch = watchDeletion(storage, effect.actorId, () => deleted.abort(new Error("the conversion was deleted")));
      return await perform(effect, AbortSignal.any([effect.signal, deleted.signal]), conversion);
    } catch (reason) {
      if (effect.signal.aborted) throw reason;
      if (deleted.signal.aborted) return { kind: "done" };
      if (reason instanceof AppError && endings.includes(reason.code)) return toFailed({ code: reason.code, message: reason.message });
      if (!isInfrastructureError(reason)) throw reason;
      log.warn({ err: reason, conversionId: effect.actorId }, "conversion postponed: it cannot be finished at the moment");
      return { kind: "retry", atMs: storage.now() + infrastructureRetryMs, reason: (reason as Error).message, uncounted: true };
    } finally {
      stopWatch();
    }
  };
}

function toFailed(error: Failure): Outcome {
  return { kind: "event", event: { type: "convert.failed", error } };
}
