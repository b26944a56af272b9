/** Creates conversions as a server has them, on a store with a manual clock and with a converter of the test's own. */
import { createLocateArticle } from "../../server/domain/articles/locate.ts";
import { createConversionService } from "../../server/domain/conversions/service.ts";
import { createLocateFolder } from "../../server/domain/folders/locate.ts";
import { createFolders } from "../../server/domain/folders/service.ts";
import { createAccessResolver } from "../../server/domain/identity/workspaces/access.ts";
import { createHousekeepingManifest } from "../../server/platform/composition/manifest.ts";
import type { OutboundFetch } from "../../server/platform/outbound/fetch.ts";
import type { PublicUrl } from "../../server/platform/outbound/publicUrl.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRecordTypes } from "../../server/platform/storage/recordType.ts";
import { recordTypes } from "../../server/store.ts";
import { composeParts, defaultLeaseMs } from "../support/composeParts.ts";
import { type ConverterDouble, createConverterDouble, doublePairs } from "../support/converterDouble.ts";
import { locateNothing } from "../support/locateNothing.ts";
import type { ManualTime } from "../support/manualTime.ts";
import { type ArticleNodeOptions, composeArticles } from "./articleFixture.ts";

export interface ConversionNodeOptions extends ArticleNodeOptions {
  readonly converter?: ConverterDouble;
  readonly fetch?: OutboundFetch;
  /** Runs after the live text of a target was changed, before the commit. */
  readonly afterReplace?: (articleId: string) => Promise<void>;
}

const unreachable: OutboundFetch = async () => ({ kind: "failed", reason: "unreachable" });

export function createConversionNode(storage: Storage, time: Pick<ManualTime, "now" | "after">, options: ConversionNodeOptions = {}) {
  const { limits, nodeId, leaseMs = defaultLeaseMs, converter = createConverterDouble(), fetch = unreachable, afterReplace } = options;
  const parts = composeParts(storage, { after: time.after, limits, nodeId, leaseMs });
  const node = composeArticles(parts, options);
  const locators = { ...locateNothing, article: createLocateArticle(parts), folder: createLocateFolder(parts) };
  const service = createConversionService({
    ...parts,
    access: createAccessResolver({ storage: parts.storage, locators }),
    documents: node.documents,
    articles: node.writer,
    imports: {
      ...node.imports,
      async replace(order, guard) {
        const replaced = await node.imports.replace(order, guard);
        await afterReplace?.(order.articleId);
        return replaced;
      },
    },
    writing: node.writing,
    folders: createFolders(parts),
    outbound: { checkUrl: async (text) => ({ url: new URL(text) }) as PublicUrl, fetch },
    converter,
    pairs: doublePairs,
  });
  // Expired records and blobs without a reference are deleted by the worker of the store.
  parts.install([service.manifest, createHousekeepingManifest(parts.storage, createRecordTypes(recordTypes))]);
  return { ...node, ...service, converter, actors: parts.actors };
}

export type ConversionNode = ReturnType<typeof createConversionNode>;
