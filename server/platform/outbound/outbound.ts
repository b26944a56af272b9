/**
 * Outbound creates the clients with which this server calls other machines. All of them share one address rule and one
 * resolver.
 */
import type { SecureContext } from "node:tls";
import type { Limits } from "../../../api/limits.ts";
import { createOutboundFetch, type OutboundFetch } from "./fetch.ts";
import type { ProviderFetch } from "./providerFetch.ts";
import { createPublicAddresses } from "./publicAddress.ts";
import { type CheckPublicUrl, createCheckPublicUrl } from "./publicUrl.ts";
import { createResolve, type Resolve } from "./resolver.ts";

export interface OutboundOptions {
  readonly limits: Limits;
  /** Address ranges that are allowed although they are not public (`OUTBOUND_ALLOW_CIDRS`). */
  readonly allowCidrs: readonly string[];
  readonly resolve?: Resolve;
  /** Certificate authorities for webhook endpoints. Default: those of Node. */
  readonly secureContext?: SecureContext | undefined;
}

export interface Outbound {
  readonly checkUrl: CheckPublicUrl;
  /** Sends one request to a URL that a client chose. */
  readonly fetch: OutboundFetch;
  /** Connects to the model service that the operator configured. The caller must close the connection pool. */
  connectModel(baseUrl: string): Promise<ProviderFetch>;
}

export function createOutbound({ limits, allowCidrs, resolve = createResolve(), secureContext }: OutboundOptions): Outbound {
  const addresses = createPublicAddresses(allowCidrs);
  const connectMs = limits["webhook.connectMs"];
  const checkUrl = createCheckPublicUrl({ addresses, resolve, maxLength: limits["webhook.url"], resolveTimeoutMs: connectMs });
  return {
    checkUrl,
    fetch: createOutboundFetch({ checkUrl, ...(secureContext === undefined ? {} : { secureContext }) }),
    async connectModel(baseUrl) {
      // Imported at first use, as in `fetch.ts`: the HTTP client takes 20 MB.
      const { createProviderFetch } = await import("./providerFetch.ts");
      return createProviderFetch({
        baseUrl,
        addresses,
        resolve,
        connectMs,
        quietMs: limits["model.quietMs"],
        maxBytes: limits["model.answer"],
        maxLineBytes: limits["model.line"],
        maxReceivedBytes: limits["model.received"],
      });
    },
  };
}
