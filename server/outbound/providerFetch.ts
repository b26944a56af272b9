/**
 * `fetch` to a service that the operator has set up (a model, a search): one fixed origin, http or https, streaming.
 *
 * The same rule of addresses holds as for webhooks: every address of the host must be public, or in a range that the
 * operator allows, and only an address that was checked is connected to. Redirects are errors, and no proxy variable
 * is read. Quiet connections end: nobody waits for a service that says nothing.
 */
import { isIP } from "node:net";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import type { PublicAddresses } from "./publicAddress.ts";
import type { Resolve } from "./resolver.ts";

export interface ProviderFetchOptions {
  /** The address in the settings; nothing else may be called. */
  readonly baseUrl: string;
  readonly addresses: PublicAddresses;
  readonly resolve: Resolve;
  readonly connectMs: number;
  /** Without a byte, before the head of the answer and within its body. */
  readonly quietMs: number;
}

export interface ProviderFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

export function createProviderFetch({ baseUrl, addresses, resolve, connectMs, quietMs }: ProviderFetchOptions): ProviderFetch {
  const { origin } = new URL(baseUrl);

  async function toAddresses(hostname: string): Promise<{ readonly address: string; readonly family: 4 | 6 }[]> {
    const found = await resolve(hostname, AbortSignal.timeout(connectMs));
    if (found.length === 0) throw new Error(`the host ${hostname} has no address`);
    if (!found.every((address) => addresses.isPublic(address))) throw new Error(forbidden(hostname));
    return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  }

  const connect = buildConnector({
    timeout: connectMs,
    lookup: (hostname, _options, done) => {
      toAddresses(hostname).then(
        (found) => done(null, found),
        (error: unknown) => done(error as NodeJS.ErrnoException, []),
      );
    },
  });
  const agent = new Agent({
    connect(options, done) {
      // An address never meets the look-up.
      const literal = options.hostname.replace(/^\[(.*)\]$/, "$1");
      if (isIP(literal) !== 0 && !addresses.isPublic(literal)) done(new Error(forbidden(literal)), null);
      else connect(options, done);
    },
    headersTimeout: quietMs,
    bodyTimeout: quietMs,
  });
  return {
    async fetch(input, init) {
      const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
      if (url.origin !== origin) throw new Error(`${url.origin} is not ${origin}, the only origin this may call`);
      const answer = await undiciFetch(url, { ...(init as object), redirect: "error", dispatcher: agent });
      return answer as unknown as Response;
    },
    close: () => agent.destroy(),
  };
}

function forbidden(host: string): string {
  return `${host} is not a public address; OUTBOUND_ALLOW_CIDRS can allow it`;
}
