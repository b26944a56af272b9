/**
 * CreateConversion serves the request for a new conversion, and waits for its end as long as the caller wants.
 *
 * A request is refused in the order of the API: scopes, visibility, rights, the request itself, then the state of its
 * source and the limits. The input is stored as a blob before the commit that names it. From then on the body of the
 * request is not needed, so its memory is returned before the wait.
 */
import type { ConversionOptions, ConversionOutputFormat, ConversionPair, ConversionTarget } from "../../../api/schema/conversion.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { Scope } from "../../../api/scopes.ts";
import type { ConversionInput, StoredBytes } from "../../../machines/conversion.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Partition, Storage, Stored } from "../../platform/storage/port.ts";
import { authorOf } from "../call/author.ts";
import type { Access, Call } from "../call/call.ts";
import type { AccessResolver } from "../call/ports.ts";
import { present } from "../call/present.ts";
import { principalOf, requireScopes } from "../call/principal.ts";
import { refuseField } from "../call/refuseField.ts";
import type { ConversionKind } from "./conversionKind.ts";
import { type ConversionView, toConversionView } from "./conversionView.ts";
import type { EndWaits } from "./conversionWatch.ts";
import type { Quota } from "./quota.ts";
import { type ConversionRecord, conversionOrderRecord, conversionRecord } from "./records.ts";
import { type AccessedTarget, accessTarget, requireOpenFolder, type TargetReaders, toTargetContext } from "./requestedTarget.ts";
import type { OpenedSource, ReadSource, RequestedSource, Sources } from "./sources.ts";

export interface RequestedConversion {
  readonly source: RequestedSource;
  readonly to: ConversionOutputFormat;
  readonly options?: ConversionOptions | undefined;
  readonly target?: ConversionTarget | undefined;
}

/** Resolves when the conversion has ended, or with the new conversion if the call does not wait or its time is over. */
export type CreateConversion = (request: RequestedConversion, call: Call) => Promise<ConversionView>;

export interface CreateConversionOptions {
  readonly storage: Pick<Storage, "records" | "blobs" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly kind: ConversionKind;
  readonly access: AccessResolver;
  readonly folders: TargetReaders["folders"];
  readonly documents: TargetReaders["documents"];
  readonly sources: Sources;
  readonly quota: Pick<Quota, "requireRoom" | "take">;
  readonly waits: Pick<EndWaits, "wait">;
  readonly pairs: readonly ConversionPair[];
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

interface Accessed {
  readonly ofSource: Access | undefined;
  readonly ofTarget: AccessedTarget | undefined;
}

export function createConversionCreation(options: CreateConversionOptions): CreateConversion {
  const { storage, actors, kind, access, folders, documents, sources, quota, waits, pairs, baseUrl } = options;

  const view = (stored: Stored<ConversionRecord>) => toConversionView(stored, storage.now(), baseUrl);

  /** Finds the workspaces that the request names. Throws for missing scopes, visibility and rights. */
  async function authorize({ source, target }: RequestedConversion, call: Call): Promise<Accessed> {
    const scopes: Scope[] = ["conversions:execute"];
    if ("articleId" in source) scopes.push("articles:read");
    if (target !== undefined) scopes.push("articles:write");
    requireScopes(call, scopes);
    const ofSource =
      "articleId" in source ? await access.resolve(principalOf(call), "article", source.articleId, { deleted: false }) : undefined;
    if ("articleId" in source && ofSource === undefined) throw notFound();
    return { ofSource, ofTarget: target === undefined ? undefined : await accessTarget(access, target, call) };
  }

  function requirePair({ from }: OpenedSource, to: ConversionOutputFormat): void {
    if (pairs.some((pair) => pair.from === from && pair.to === to)) return;
    const message = `must be one of ${pairs
      .filter((pair) => pair.from === from)
      .map((pair) => `'${pair.to}'`)
      .join(", ")}`;
    const detail = `A conversion from ${from} to ${to} is not supported: /to ${message}.`;
    throw new AppError("unsupported_media_type", detail, { errors: [{ pointer: "/to", code: "invalid_value", message }] });
  }

  /** Throws for the request itself, then for the state of its source. */
  async function readSource({ source, to }: RequestedConversion, ofTarget: AccessedTarget | undefined): Promise<ReadSource> {
    const opened = sources.open(source);
    requirePair(opened, to);
    if (ofTarget !== undefined) {
      if (to !== "markdown") throw refuseField("to", "must be 'markdown' with a target");
      await requireOpenFolder(folders, ofTarget);
    }
    return opened.read();
  }

  async function toOrder(
    { to, options: { title } = {} }: RequestedConversion,
    read: ReadSource,
    { ofSource, ofTarget }: Accessed,
    call: Call,
  ): Promise<Omit<ConversionInput, "nowMs" | "input">> {
    const principal = principalOf(call);
    const suggested = { title: title ?? read.name ?? "", isGuessed: title === undefined && read.source.articleId === undefined };
    const target = ofTarget === undefined ? undefined : await toTargetContext(documents, ofTarget, suggested, call.ids);
    const workspaceId = (ofTarget?.access ?? ofSource)?.workspaceId;
    return {
      accountId: principal.accountId,
      author: authorOf(call),
      from: read.from,
      to,
      source: read.source,
      baseName: read.name ?? title ?? "conversion",
      ...present({
        workspaceId,
        sourceWorkspaceId: ofSource?.workspaceId === workspaceId ? undefined : ofSource?.workspaceId,
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

  /** Finds the conversion that an interrupted attempt of the request has created. Throws if it was deleted since. */
  async function findEarlier(conversionId: string): Promise<Stored<ConversionRecord> | undefined> {
    const found = await storage.records.get(conversionRecord, conversionId);
    if (found === undefined && (await storage.records.get(conversionOrderRecord, conversionId)) !== undefined) throw deleted();
    return found;
  }

  /**
   * The answer of a call that waits is stored after the wait, because it is another one. Until then the order says that the
   * conversion was created.
   */
  function noteOrder(unit: UnitOfWork, conversionId: string, call: Call): void {
    const expiresAtMs = call.nowMs + call.limits["keep.idempotency"];
    unit.record({ op: "put", type: conversionOrderRecord, value: { conversionId, expiresAtMs }, replacing: null });
  }

  async function start(request: RequestedConversion, call: Call): Promise<ConversionView> {
    const accessed = await authorize(request, call);
    const partition = (accessed.ofTarget?.access ?? accessed.ofSource)?.partition ?? partitionOfId(principalOf(call).accountId);
    const conversionId = call.ids.next("cnv", partition);
    const earlier = call.isRepeatable ? await findEarlier(conversionId) : undefined;
    if (earlier !== undefined) return view(earlier);
    const read = await readSource(request, accessed.ofTarget);
    const inputBytes = read.bytes?.length ?? 0;
    const order = await toOrder(request, read, accessed, call);
    await quota.requireRoom(order, inputBytes);
    const input = await storeInput(partition, read.bytes);
    const isWaiting = (call.waitMs ?? 0) > 0;
    const committer = isWaiting ? { commit: (batch: Parameters<Call["commit"]>[0]) => call.commit(batch) } : call;
    let mayExist = false;
    return actors.commitUnit<ConversionView>({ operation: "conversion.create", partition, committer }, async (unit) => {
      const before = mayExist ? await findEarlier(conversionId) : undefined;
      if (before !== undefined) return view(before);
      mayExist = true;
      await quota.take(unit, order, inputBytes);
      if (isWaiting && call.isRepeatable) noteOrder(unit, conversionId, call);
      return view({ value: unit.create(kind, conversionId, { ...order, ...present({ input }) }), revision: 1 });
    });
  }

  async function untilEnded(created: ConversionView, call: Call): Promise<ConversionView> {
    const waitMs = call.waitMs ?? 0;
    if (waitMs <= 0 || created.hasEnded) return created;
    call.releaseBody?.();
    const { conversionId } = created.conversion;
    await waits.wait(conversionId, waitMs, call.signal);
    // A client that left gets no answer, and its repeat waits again.
    call.signal?.throwIfAborted();
    const ended = await storage.records.get(conversionRecord, conversionId);
    if (ended === undefined) throw deleted();
    return view(ended);
  }

  // `request` has the bytes of the body, so no function may hold it during the wait.
  return (request, call) => start(request, call).then((created) => untilEnded(created, call));
}

function deleted(): AppError {
  return new AppError("not_found", "The conversion of this request was deleted. Send a new request, with a new Idempotency-Key.");
}
