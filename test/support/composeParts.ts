/**
 * ComposeParts creates the parts that the services share, as `server/compose.ts` does, for a store of the test's own.
 *
 * Every fixture starts here, so it has the wiring of the product. A test replaces only the store, the clock and limits.
 */
import { pino } from "pino";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import { createArticleEvents } from "../../server/domain/articles/articleEvents.ts";
import { createPageTokens } from "../../server/domain/call/pageToken.ts";
import { createPager } from "../../server/domain/call/paging.ts";
import { announceAccessFacts } from "../../server/domain/identity/access/accessFacts.ts";
import { installManifests, type Manifest } from "../../server/platform/composition/manifest.ts";
import { createParts, type PartsOptions } from "../../server/platform/composition/parts.ts";
import { deriveSecrets } from "../../server/platform/secrets.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRecordTypes } from "../../server/platform/storage/recordType.ts";
import { recordTypes } from "../../server/store.ts";

export const baseUrl = "https://content.example";
export const defaultLeaseMs = 5000;
const masterKey = Buffer.alloc(32, 7);

export interface ComposePartsOptions extends Partial<Omit<PartsOptions, "storage">> {
  readonly limits?: Partial<Limits> | undefined;
  readonly nodeId?: string | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
}

export type TestParts = ReturnType<typeof composeParts>;

export function composeParts(given: Storage, options: ComposePartsOptions = {}) {
  const { limits: ownLimits, nodeId = "node_a", keys = [masterKey], ...rest } = options;
  const storage = announceAccessFacts(given);
  const limits: Limits = { ...defaultLimits, ...ownLimits };
  const secrets = deriveSecrets(keys);
  const parts = createParts({ log: pino({ level: "silent" }), leaseMs: defaultLeaseMs, ...rest, storage });
  return {
    ...parts,
    nodeId,
    limits,
    secrets,
    baseUrl,
    articleEvents: createArticleEvents({ storage, limits }),
    pager: createPager({ storage, pageKey: secrets.pageKey, limits }),
    pageTokens: createPageTokens(secrets.pageKey),
    /** Registers actor kinds and workers as the server does; `more` are record types beside those of the product. */
    install: (manifests: readonly Manifest[], more: typeof recordTypes = []) =>
      installManifests(manifests, { ...parts, recordTypes: createRecordTypes([...recordTypes, ...more]) }),
  };
}
