/**
 * Conversions creates, lists, reads and deletes conversions for their account.
 *
 * A request is refused in the order of the API: scopes, what is not visible, rights, then the request itself. The input
 * is stored as a blob before the commit that names it. The work is an effect of the conversion's machine.
 */
import type {
  Conversion,
  ConversionFormats,
  ConversionOptions,
  ConversionOutput,
  ConversionOutputFormat,
  ConversionPair,
  ConversionTarget,
} from "../../../api/schema/conversion.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { Scope } from "../../../api/scopes.ts";
import type { ConversionInput, StoredBytes } from "../../../machines/conversion.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { type Partition, partitionCount, type Storage, type Stored } from "../../platform/storage/port.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import type { Page, Pager } from "../call/paging.ts";
import type { AccessResolver } from "../call/ports.ts";
import { requireMatch } from "../call/precondition.ts";
import { present } from "../call/present.ts";
import { principalOf, requireScopes } from "../call/principal.ts";
import { refuseField } from "../call/refuseField.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import type { ConversionKind } from "./conversionKind.ts";
import type { EndWaits } from "./conversionWatch.ts";
import { findConversion, isVisible } from "./findConversion.ts";
import { isBinary, toOutputName } from "./formats.ts";
import { type ConversionRecord, conversionRecord, conversionsOf, hasEnded, statusAt, toConversion, writtenArticleOf } from "./records.ts";
import { type AccessedTarget, accessTarget, type TargetReaders, toTargetContext } from "./requestedTarget.ts";
import type { ReadSource, RequestedSource, Sources } from "./sources.ts";

export interface RequestedConversion {
  readonly source: RequestedSource;
  readonly to: ConversionOutputFormat;
  readonly options?: ConversionOptions | undefined;
  readonly target?: ConversionTarget | undefined;
}

/** A conversion as the API shows it, and whether it has ended. */
export interface ConversionView {
  readonly conversion: Conversion;
  /** Revision of the record. */
  readonly revision: number;
  readonly hasEnded: boolean;
  /** The article that has the Markdown, if the request named a target and the conversion succeeded. */
  readonly writtenArticleId: string | undefined;
}

/** The bytes of an output, and what describes them. */
export interface OutputView extends Omit<ConversionOutput, "content"> {
  readonly content: Uint8Array;
}

export interface Conversions {
  formats(): ConversionFormats;
  /** Waits for the end of the conversion as long as the call wants to. */
  create(request: RequestedConversion, call: Call): Promise<ConversionView>;
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
  readonly access: AccessResolver;
  readonly folders: TargetReaders["folders"];
  readonly documents: TargetReaders["documents"];
  readonly sources: Sources;
  readonly waits: Pick<EndWaits, "wait">;
  readonly pairs: readonly ConversionPair[];
  readonly pager: Pager;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** An account has conversions in the partitions of all its workspaces, also of those that it has left. */
const everyPartition = Array.from({ length: partitionCount }, (_, partition) => partition);

export function createConversions(options: ConversionsOptions): Conversions {
  const { storage, actors, kind, access, folders, documents, sources, waits, pairs, pager, baseUrl } = options;

  const view = ({ value, revision }: Stored<ConversionRecord>): ConversionView => ({
    conversion: toConversion(value, storage.now(), baseUrl),
    revision,
    hasEnded: hasEnded(value),
    writtenArticleId: writtenArticleOf(value, storage.now()),
  });

  /** Finds the workspaces that the request names. Throws for missing scopes, then for what the caller may not see or write. */
  async function authorize({ source, target }: RequestedConversion, call: Call) {
    const scopes: Scope[] = ["conversions:execute"];
    if ("articleId" in source) scopes.push("articles:read");
    if (target !== undefined) scopes.push("articles:write");
    requireScopes(call, scopes);
    const ofSource =
      "articleId" in source ? await access.resolve(principalOf(call), "article", source.articleId, { deleted: false }) : undefined;
    if ("articleId" in source && ofSource === undefined) throw notFound();
    const ofTarget = target === undefined ? undefined : await accessTarget(access, target, call);
    return { workspace: ofTarget?.access ?? ofSource, ofTarget };
  }

  function requirePair({ from }: ReadSource, to: ConversionOutputFormat): void {
    if (pairs.some((pair) => pair.from === from && pair.to === to)) return;
    const message = `must be one of ${pairs
      .filter((pair) => pair.from === from)
      .map((pair) => `'${pair.to}'`)
      .join(", ")}`;
    const detail = `A conversion from ${from} to ${to} is not supported: /to ${message}.`;
    throw new AppError("unsupported_media_type", detail, { errors: [{ pointer: "/to", code: "invalid_value", message }] });
  }

  async function toOrder(
    { to, options: { title } = {} }: RequestedConversion,
    read: ReadSource,
    ofTarget: AccessedTarget | undefined,
    call: Call,
  ): Promise<Omit<ConversionInput, "nowMs" | "input" | "workspaceId">> {
    const principal = principalOf(call);
    const named = title ?? read.name;
    const target = ofTarget === undefined ? undefined : await toTargetContext({ folders, documents }, ofTarget, named ?? "", call.ids);
    return {
      accountId: principal.accountId,
      author: authorOf(call),
      from: read.from,
      to,
      source: read.source,
      baseName: read.name ?? title ?? "conversion",
      ...present({
        keyId: principal.kind === "key" ? principal.keyId : undefined,
        isFormatGiven: read.isFormatGiven,
        title: title ?? read.title,
        target,
        traceparent: call.traceparent,
      }),
    };
  }

  async function storeInput(partition: Partition, bytes: Uint8Array | undefined): Promise<StoredBytes | undefined> {
    return bytes === undefined ? undefined : { sha256: await storage.blobs.put(partition, bytes), bytes: bytes.length };
  }

  return {
    formats: () => ({ pairs: [...pairs] }),

    async create(request, call) {
      const { workspace, ofTarget } = await authorize(request, call);
      if (ofTarget !== undefined && request.to !== "markdown") throw refuseField("to", "must be 'markdown' with a target");
      const read = await sources.read(request.source);
      requirePair(read, request.to);
      const partition = workspace?.partition ?? partitionOfId(principalOf(call).accountId);
      const conversionId = call.ids.next("cnv", partition);
      const order = await toOrder(request, read, ofTarget, call);
      const input = await storeInput(partition, read.bytes);
      const waitMs = call.waitMs ?? 0;
      // The answer of a call that waits is stored after the wait, because it is another one.
      const committer = waitMs > 0 ? { commit: (batch: Parameters<Call["commit"]>[0]) => call.commit(batch) } : call;
      let mayExist = call.isRepeatable;
      const created = await actors.commitUnit<ConversionView>({ operation: "conversion.create", partition, committer }, async (unit) => {
        // An interrupted attempt of the request may have created the conversion.
        const before = mayExist ? await storage.records.get(conversionRecord, conversionId) : undefined;
        if (before !== undefined) return view(before);
        mayExist = true;
        const value = unit.create(kind, conversionId, { ...order, ...present({ workspaceId: workspace?.workspaceId, input }) });
        return view({ value, revision: 1 });
      });
      if (waitMs <= 0 || created.hasEnded) return created;
      await waits.wait(conversionId, waitMs);
      const ended = await storage.records.get(conversionRecord, conversionId);
      if (ended === undefined) throw notFound();
      return view(ended);
    },

    list({ limit, nextToken }, call) {
      const principal = principalOf(call);
      return pager.page<Conversion>({
        scope: "conversions",
        partition: everyPartition,
        prefix: conversionsOf(principal.accountId),
        reverse: true,
        limit,
        nextToken,
        async load(keys) {
          const found = await storage.records.getMany(conversionRecord, keys);
          const named = [...new Set(found.flatMap((stored) => stored?.value.context.workspaceId ?? []))];
          const workspaces = new Map(
            (await storage.records.getMany(workspaceRecord, named)).map((stored, at) => [named[at], stored?.value]),
          );
          return found.map((stored) => {
            if (stored === undefined || !isVisible(principal, stored.value, workspaces.get(stored.value.context.workspaceId)))
              return undefined;
            return toConversion(stored.value, storage.now(), baseUrl);
          });
        },
      });
    },

    async get(conversionId, call) {
      return view(await findConversion(storage, principalOf(call), conversionId));
    },

    async output(conversionId, call) {
      const { value } = await findConversion(storage, principalOf(call), conversionId);
      const { output, to, baseName, source } = value.context;
      if (source.articleId !== undefined) requireScopes(call, ["conversions:execute", "articles:read"]);
      requireOutput(value, storage.now());
      const content = output === undefined ? undefined : await storage.blobs.get(partitionOfId(conversionId), output.sha256);
      // The row that deletes an output may run between the two reads.
      if (output === undefined || content === undefined) throw expired();
      const { contentType, bytes, sha256 } = output;
      return { fileName: toOutputName(baseName, to), contentType, bytes, sha256, encoding: isBinary(to) ? "base64" : "utf-8", content };
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
