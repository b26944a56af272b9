/**
 * Converter runs conversions in a child process (platform/workers/childWorker.ts) and puts their outcomes into words.
 *
 * A document is never trusted: the process has no network, no files, limited memory and limited time, and is killed when it
 * exceeds them. This module knows neither formats nor records.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import { type ChildOutcome, createChildWorker } from "../../platform/workers/childWorker.ts";
import { toProgramFile } from "../../platform/workers/programFile.ts";
import type { ConversionJobHead, ConversionJobResult } from "./conversionJob.ts";
import type { ConversionOutcome, Converter } from "./converterPort.ts";
import type { ConversionCaps } from "./engine/caps.ts";
import { engineVersion } from "./engine/version.ts";
import { findPackageFiles, findProgramFolders } from "./programFolders.ts";

export interface ConverterOptions {
  readonly limits: Pick<
    Limits,
    | "conversion.ms"
    | "conversion.memory"
    | "conversion.output"
    | "conversion.nodes"
    | "conversion.depth"
    | "archive.entries"
    | "archive.total"
    | "archive.entry"
    | "archive.ratio"
  >;
  readonly log: Pick<Logger, "error">;
}

/** Processor time until a process has loaded its program. Loading takes about a second. */
const maxStartMs = 20_000;
/** A process is replaced after this many conversions, so that leaks of libraries cannot add up. */
const jobsPerProcess = 200;
const idleMs = 5 * 60_000;
/** Room for the head of an answer beside the output. */
const headBytes = 1024 * 1024;

export function createConverter({ limits, log }: ConverterOptions): Converter & { processId(): number | undefined } {
  const caps: ConversionCaps = {
    nodes: limits["conversion.nodes"],
    depth: limits["conversion.depth"],
    outputBytes: limits["conversion.output"],
    archive: {
      entries: limits["archive.entries"],
      totalBytes: limits["archive.total"],
      entryBytes: limits["archive.entry"],
      ratio: limits["archive.ratio"],
    },
  };
  const program = toProgramFile("conversion.child");
  const folder = dirname(fileURLToPath(program));
  const worker = createChildWorker({
    program,
    readable: [...findProgramFolders(folder), ...findPackageFiles(folder)],
    maxStartMs,
    maxMemoryBytes: limits["conversion.memory"],
    maxJobMs: limits["conversion.ms"],
    maxAnswerBytes: caps.outputBytes + headBytes,
    jobsPerProcess,
    idleMs,
  });

  let isClosed = false;

  function toOutcome(outcome: ChildOutcome): ConversionOutcome {
    if (outcome.kind !== "done") return failed(toDetail(outcome));
    const result = outcome.result as ConversionJobResult;
    if (result.kind === "refused") return failed(result.detail);
    return { ok: true, bytes: outcome.bytes, contentType: result.contentType, fidelity: result.fidelity };
  }

  /** Throws `unavailable` if the process could not start, which says nothing about the document. */
  function toDetail(outcome: Exclude<ChildOutcome, { kind: "done" }>): string {
    switch (outcome.kind) {
      case "tooLong":
        return `The conversion took more than ${limits["conversion.ms"]} ms; split the document, or use smaller tables and pictures.`;
      case "tooMuchMemory":
        return `The conversion needed more than ${limits["conversion.memory"]} bytes of memory; split the document, or use smaller pictures.`;
      case "answerTooLarge":
        return `The output is larger than ${caps.outputBytes} bytes.`;
      case "cancelled":
        return "The conversion was cancelled.";
      case "starved":
        return "The server was too busy to convert the document; try again later.";
      case "notStarted":
        log.error({ reason: outcome.reason }, "the process that converts could not start");
        throw new AppError("unavailable", "The process that converts documents could not start.");
      case "failed":
        log.error({ reason: outcome.reason }, "a conversion failed unexpectedly");
        return "The converter failed on this document; this is a bug of the server, which has logged it.";
    }
  }

  return {
    version: engineVersion,
    async convert({ from, to, bytes, title, signal, begin }) {
      const head: ConversionJobHead = { from, to, ...(title === undefined ? {} : { title }), caps };
      const outcome = await worker.run(head, bytes, signal, begin);
      if (outcome.kind === "cancelled" && isClosed) throw new AppError("unavailable", "The converter was closed.");
      return toOutcome(outcome);
    },
    close() {
      isClosed = true;
      return worker.close();
    },
    processId: () => worker.processId(),
  };
}

function failed(detail: string): ConversionOutcome {
  return { ok: false, code: "conversion_failed", detail };
}
