/**
 * OutputCache finds the kept output of an equal conversion: equal bytes, formats, title and version of the converter.
 *
 * Only conversions of the same workspace, or of the same account without a workspace, share outputs. So nobody learns from
 * a fast answer that somebody else has the same document.
 */
import { hash } from "node:crypto";
import type { ConversionFidelity } from "../../../api/schema/conversion.ts";
import type { ConversionContext } from "../../../machines/conversion.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { cachedOutputs, conversionRecord, scopeOf, statusAt } from "./records.ts";

export interface MadeOutput {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly fidelity: ConversionFidelity;
}

export interface OutputCache {
  keyOf(context: ConversionContext, bytes: Uint8Array): string;
  find(conversionId: string, context: ConversionContext, cacheKey: string): Promise<MadeOutput | undefined>;
}

export interface OutputCacheOptions {
  readonly storage: Pick<Storage, "records" | "index" | "blobs" | "now">;
  /** Version of the converter. */
  readonly version: string;
}

export function createOutputCache({ storage, version }: OutputCacheOptions): OutputCache {
  return {
    keyOf: ({ from, to, title = null }, bytes) => hash("sha256", JSON.stringify([hash("sha256", bytes), from, to, title, version])),

    async find(conversionId, context, cacheKey) {
      const partition = partitionOfId(conversionId);
      const prefix = cachedOutputs(scopeOf(context), cacheKey);
      const [newest] = await storage.index.scan({ partition, prefix, reverse: true, limit: 1 });
      const found = newest === undefined ? undefined : await storage.records.get(conversionRecord, newest.target);
      const { output, fidelity } = found?.value.context ?? {};
      if (found === undefined || output === undefined || fidelity === undefined) return undefined;
      if (statusAt(found.value, storage.now()) !== "succeeded") return undefined;
      const bytes = await storage.blobs.get(partition, output.sha256);
      return bytes === undefined ? undefined : { bytes, contentType: output.contentType, fidelity };
    },
  };
}
