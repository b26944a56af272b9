/**
 * Conversions lists, reads and deletes conversions for their account, and reads their outputs.
 *
 * An output may have tens of megabytes and its reader may be slow, so it is read in pieces while it is sent. The work
 * itself is an effect of the conversion's machine.
 */
import type { Limits } from "../../../api/limits.ts";
import type { Conversion, ConversionFormats, ConversionOutput, ConversionPair } from "../../../api/schema/conversion.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { partitionCount, type Storage } from "../../platform/storage/port.ts";
import type { Call, Pieces } from "../call/call.ts";
import type { Page, Pager } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { principalOf, requireScopes } from "../call/principal.ts";
import type { ConversionKind } from "./conversionKind.ts";
import { type ConversionView, toConversionView } from "./conversionView.ts";
import type { CreateConversion } from "./createConversion.ts";
import { findConversion, findConversions } from "./findConversion.ts";
import { isBinary, toOutputName } from "./formats.ts";
import { type ConversionRecord, conversionsOf, statusAt, toConversion } from "./records.ts";

/** An output with its description. */
export interface OutputView extends Omit<ConversionOutput, "content"> {
  readonly content: Uint8Array | Pieces;
  /** Reads the whole output. Throws `content_too_large` above `conversion.outputJson`. */
  readWhole(): Promise<Uint8Array>;
}

export interface Conversions {
  formats(): ConversionFormats;
  readonly create: CreateConversion;
  list(page: { readonly limit?: number | undefined; readonly nextToken?: string | undefined }, call: Call): Promise<Page<Conversion>>;
  get(conversionId: string, call: Call): Promise<ConversionView>;
  /** Throws `not_ready` and `output_expired`. */
  output(conversionId: string, call: Call): Promise<OutputView>;
  delete(conversionId: string, call: Call): Promise<void>;
}

export interface ConversionsOptions {
  readonly storage: Pick<Storage, "records" | "blobs" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly kind: ConversionKind;
  readonly create: CreateConversion;
  readonly pairs: readonly ConversionPair[];
  readonly pager: Pager;
  readonly limits: Pick<Limits, "conversion.outputJson">;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** An account has conversions in the partitions of all its workspaces, also of those that it has left. */
const everyPartition = Array.from({ length: partitionCount }, (_, partition) => partition);
/** Bytes of an output that are in memory for one reader. Redis stores pieces of this size. */
const pieceBytes = 512 * 1024;

export function createConversions(options: ConversionsOptions): Conversions {
  const { storage, actors, kind, create, pairs, pager, limits, baseUrl } = options;

  /** Throws `output_expired`, because the row that deletes an output may run after the conversion was read. */
  async function openOutput(conversionId: string, sha256: string, size: number): Promise<Uint8Array | Pieces> {
    const read = (from: number) => storage.blobs.getPart(partitionOfId(conversionId), sha256, from, pieceBytes);
    let first = await read(0);
    if (first === undefined) throw expired();
    if (first.length >= size) return first;
    return {
      size,
      async read(from) {
        const piece = from === 0 ? first : undefined;
        first = undefined;
        return piece ?? read(from);
      },
    };
  }

  async function readWhole(conversionId: string, sha256: string, bytes: number): Promise<Uint8Array> {
    const most = limits["conversion.outputJson"];
    if (bytes > most) {
      const detail = `The output has ${bytes} bytes; at most ${most} are sent inside JSON (conversion.outputJson). Read it with Accept: application/octet-stream.`;
      throw new AppError("content_too_large", detail);
    }
    const content = await storage.blobs.get(partitionOfId(conversionId), sha256);
    if (content === undefined) throw expired();
    return content;
  }

  return {
    formats: () => ({ pairs: [...pairs] }),
    create,

    list({ limit, nextToken }, call) {
      const principal = principalOf(call);
      return pager.page<Conversion>({
        scope: "conversions",
        partition: everyPartition,
        prefix: conversionsOf(principal.accountId),
        reverse: true,
        limit,
        nextToken,
        load: async (ids) =>
          (await findConversions(storage, principal, ids)).map(
            (conversion) => conversion && toConversion(conversion, storage.now(), baseUrl),
          ),
      });
    },

    async get(conversionId, call) {
      return toConversionView(await findConversion(storage, principalOf(call), conversionId), storage.now(), baseUrl);
    },

    async output(conversionId, call) {
      const { value } = await findConversion(storage, principalOf(call), conversionId);
      const { output, to, baseName, source } = value.context;
      if (source.articleId !== undefined) requireScopes(call, ["conversions:execute", "articles:read"]);
      requireOutput(value, storage.now());
      if (output === undefined) throw expired();
      const { contentType, bytes, sha256 } = output;
      return {
        fileName: toOutputName(baseName, to),
        contentType,
        bytes,
        sha256,
        encoding: isBinary(to) ? "base64" : "utf-8",
        content: await openOutput(conversionId, sha256, bytes),
        readWhole: () => readWhole(conversionId, sha256, bytes),
      };
    },

    delete: (conversionId, call) =>
      actors.commitUnit({ operation: "conversion.delete", partition: partitionOfId(conversionId), committer: call }, async (unit) => {
        await findConversion(storage, principalOf(call), conversionId);
        const found = await unit.read(kind, conversionId);
        if (found === undefined) throw notFound();
        requireMatch(call, found.revision);
        await unit.send(kind, conversionId, { type: "conversion.delete" });
      }),
  };
}

function expired(): AppError {
  return new AppError("output_expired", "The output of this conversion is no longer kept. Convert the document again.");
}

function requireOutput(record: ConversionRecord, nowMs: number): void {
  const status = statusAt(record, nowMs);
  if (status === "expired") throw expired();
  if (status === "succeeded") return;
  const detail = status === "failed" ? "The conversion failed, so it has no output." : "The conversion has not ended yet.";
  throw new AppError("not_ready", detail, { currentState: status });
}
