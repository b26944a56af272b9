/** Builds the conversions domain: its requests, and the effect that converts. */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { ConversionPair } from "../../../api/schema/conversion.ts";
import type { After } from "../../platform/actors/after.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleImports, ArticleWriter, Documents, DocumentWriting } from "../articles/port.ts";
import type { Pager } from "../call/paging.ts";
import type { AccessResolver } from "../call/ports.ts";
import type { Folders } from "../folders/service.ts";
import { defineConversionKind, provideConversionEffects } from "./conversionKind.ts";
import { type Conversions, createConversions } from "./conversions.ts";
import { createEndWaits } from "./conversionWatch.ts";
import { createConvert } from "./convert.ts";
import type { Converter } from "./converterPort.ts";
import { createConversionCreation } from "./createConversion.ts";
import { createOutputCache } from "./outputCache.ts";
import { createQuota } from "./quota.ts";
import { createSourceFetch } from "./sourceFetch.ts";
import { createSources } from "./sources.ts";
import { createTargets } from "./targets.ts";

export interface ConversionServiceOptions {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly clock: { now(): number; readonly after: After };
  readonly access: AccessResolver;
  readonly documents: Pick<Documents, "read" | "readAt">;
  readonly articles: Pick<ArticleWriter, "commit">;
  readonly imports: ArticleImports;
  readonly writing: Pick<DocumentWriting, "toAcceptable" | "requireFits">;
  readonly folders: Pick<Folders, "find" | "requireOpen">;
  readonly outbound: Pick<Outbound, "checkUrl" | "fetch">;
  readonly converter: Converter;
  /** The pairs of formats that the converter supports. */
  readonly pairs: readonly ConversionPair[];
  readonly pager: Pager;
  readonly ids: IdSource;
  readonly limits: Limits;
  /** Id of this process. */
  readonly nodeId: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly log: Logger;
}

export interface ConversionService {
  readonly conversions: Conversions;
  readonly manifest: Manifest;
  /** Ends the waits of requests, so that a draining server can answer them. */
  stopWaiting(): void;
}

export function createConversionService(options: ConversionServiceOptions): ConversionService {
  const { storage, outbound, converter, limits } = options;
  const kind = defineConversionKind(limits);
  const waits = createEndWaits(options);
  const quota = createQuota(options);
  const convert = createConvert({
    ...options,
    kind,
    quota,
    cache: createOutputCache({ storage, version: converter.version }),
    fetchSource: createSourceFetch(outbound.fetch, limits),
    targets: createTargets(options),
  });
  const create = createConversionCreation({ ...options, kind, quota, waits, sources: createSources({ ...options, ...outbound }) });
  return {
    conversions: createConversions({ ...options, kind, create }),
    manifest: {
      name: "conversions",
      actorKinds: [provideConversionEffects(kind, { storage, convert })],
      close: () => converter.close(),
    },
    stopWaiting: waits.stop,
  };
}
