/**
 * `fetch` to a service that the operator has set up (a model, a search): one fixed origin, http or https, streaming.
 *
 * The same rule of addresses holds as for webhooks: every address of the host must be public, or in a range that the
 * operator allows, and only an address that was checked is connected to. Redirects are errors, and no proxy variable
 * is read. Quiet connections end: nobody waits for a service that says nothing. An answer that would fill the memory ends too.
 */
import { isIP } from "node:net";
import { TransformStream } from "node:stream/web";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import { ProviderRefusal } from "./providerRefusal.ts";
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
  /** Of one answer, unpacked. */
  readonly maxBytes: number;
  /** Without an end of line: whoever reads line by line holds so much. */
  readonly maxLineBytes: number;
}

export interface ProviderFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

export function createProviderFetch(options: ProviderFetchOptions): ProviderFetch {
  const { baseUrl, addresses, resolve, connectMs, quietMs, maxBytes, maxLineBytes } = options;
  const { origin } = new URL(baseUrl);

  async function toAddresses(hostname: string): Promise<{ readonly address: string; readonly family: 4 | 6 }[]> {
    const found = await resolve(hostname, AbortSignal.timeout(connectMs));
    if (found.length === 0) throw new Error(`the host ${hostname} has no address`);
    if (!found.every((address) => addresses.isPublic(address))) throw forbidden(hostname);
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
      if (isIP(literal) !== 0 && !addresses.isPublic(literal)) done(forbidden(literal), null);
      else connect(options, done);
    },
    headersTimeout: quietMs,
    bodyTimeout: quietMs,
  });
  return {
    async fetch(input, init) {
      const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
      if (url.origin !== origin) throw new Error(`${url.origin} is not ${origin}, the only origin this may call`);
      // As a plain answer: a client is not to take it for trouble of the network and try it again.
      const answer = await undiciFetch(url, { ...(init as object), redirect: "manual", dispatcher: agent }).catch(throwRefusal);
      const { status, statusText, headers, body } = answer;
      if (status >= 300 && status < 400) {
        await body?.cancel();
        throw new ProviderRefusal(`it sends elsewhere (${status}), and redirects are not followed`, { isLasting: true });
      }
      const limit = answer.ok ? bounded(maxBytes, maxLineBytes) : cut(maxRefusalBytes);
      // The client of this fetch and the runtime name the same streams by types that do not meet.
      const read = body?.pipeThrough(limit) as unknown as BodyInit | undefined;
      return new Response(read, { status, statusText, headers: [...headers] });
    },
    close: () => agent.destroy(),
  };
}

/** What was refused here comes wrapped in an error of the network. */
function throwRefusal(error: unknown): never {
  throw error instanceof Error && error.cause instanceof ProviderRefusal ? error.cause : error;
}

/** Of the words with which a request is refused. */
const maxRefusalBytes = 16 * 1024;
const lineFeed = 10;

function cut(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let leftBytes = maxBytes;
  return new TransformStream({
    transform(chunk: Uint8Array, controller) {
      controller.enqueue(chunk.subarray(0, leftBytes));
      leftBytes -= chunk.length;
      if (leftBytes <= 0) controller.terminate();
    },
  });
}

function bounded(maxBytes: number, maxLineBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk: Uint8Array, controller) {
      bytes += chunk.length;
      const end = chunk.lastIndexOf(lineFeed);
      const longestBytes = lineBytes + (end < 0 ? chunk.length : chunk.indexOf(lineFeed));
      lineBytes = end < 0 ? longestBytes : chunk.length - end - 1;
      const isLong = Math.max(longestBytes, lineBytes) > maxLineBytes;
      if (bytes <= maxBytes && !isLong) return controller.enqueue(chunk);
      const what = isLong ? `a line of its answer is longer than ${maxLineBytes} bytes` : `its answer is longer than ${maxBytes} bytes`;
      throw new ProviderRefusal(what, { isLasting: false });
    },
  });
}

function forbidden(host: string): ProviderRefusal {
  return new ProviderRefusal(`${host} is not a public address; OUTBOUND_ALLOW_CIDRS can allow it`, { isLasting: true });
}
