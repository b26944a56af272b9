/**
 * ProviderFetch is a streaming `fetch` for one service that the operator has configured, such as a model or a search.
 *
 * It calls one fixed origin, http or https. The address rule is the same as for webhooks: every address of the host
 * must be public or in a range that the operator allows, and only checked addresses are connected to. Redirects are
 * errors and proxy variables are ignored. A connection that receives no byte for `quietMs` is closed, and so is an
 * answer that exceeds one of its limits.
 */
import { isIP, type Socket } from "node:net";
import { TransformStream } from "node:stream/web";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import { BoundedSocket, toClientSocket } from "./boundedSocket.ts";
import { ProviderRefusal } from "./providerRefusal.ts";
import type { PublicAddresses } from "./publicAddress.ts";
import type { Resolve } from "./resolver.ts";

export interface ProviderFetchOptions {
  /** Base URL from the settings. Requests to any other origin are refused. */
  readonly baseUrl: string;
  readonly addresses: PublicAddresses;
  readonly resolve: Resolve;
  readonly connectMs: number;
  /** Maximum milliseconds without a received byte, before the head of the answer and within its body. */
  readonly quietMs: number;
  /** Maximum bytes of one answer after decompression. */
  readonly maxBytes: number;
  /** Maximum bytes without a line feed. A caller that reads line by line must buffer that much. */
  readonly maxLineBytes: number;
  /**
   * Maximum bytes of one answer on the connection, before decompression, including interim answers, head and chunk
   * framing.
   */
  readonly maxReceivedBytes: number;
}

export interface ProviderFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

export function createProviderFetch(options: ProviderFetchOptions): ProviderFetch {
  const { baseUrl, addresses, resolve, connectMs, quietMs, maxBytes, maxLineBytes, maxReceivedBytes } = options;
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
      // The agent does not call `lookup` if the host is already an address, so check it here.
      const literal = options.hostname.replace(/^\[(.*)\]$/, "$1");
      if (isIP(literal) !== 0 && !addresses.isPublic(literal)) done(forbidden(literal), null);
      else connect(options, (...outcome) => (outcome[0] === null ? done(null, bound(outcome[1])) : done(...outcome)));
    },
    // Connections are not reused, because the byte limit of a connection is meant for one answer.
    pipelining: 0,
    headersTimeout: quietMs,
    bodyTimeout: quietMs,
  });
  const bound = (socket: Socket): Socket => toClientSocket(new BoundedSocket(socket, maxReceivedBytes));
  return {
    async fetch(input, init) {
      const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
      if (url.origin !== origin) throw new Error(`${url.origin} is not ${origin}, the only origin this may call`);
      // A redirect becomes a plain refusal. A network error would make a client retry the request.
      const answer = await undiciFetch(url, { ...(init as object), redirect: "manual", dispatcher: agent }).catch(throwRefusal);
      const { status, statusText, headers, body } = answer;
      if (status >= 300 && status < 400) {
        await body?.cancel();
        throw new ProviderRefusal(`it answered with a redirect (${status}), and redirects are not followed`, { isPermanent: true });
      }
      const limit = answer.ok ? bounded(maxBytes, maxLineBytes) : cut(maxRefusalBytes);
      // undici and the runtime declare incompatible types for the same streams.
      const read = body?.pipeThrough(limit) as unknown as BodyInit | undefined;
      return new Response(read, { status, statusText, headers: [...headers] });
    },
    close: () => agent.destroy(),
  };
}

/** Rethrows a ProviderRefusal that undici has wrapped in a network error. */
function throwRefusal(error: unknown): never {
  throw error instanceof Error && error.cause instanceof ProviderRefusal ? error.cause : error;
}

/** Maximum bytes of the body of a refused request. */
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
  /** Bytes since the last line feed, of all chunks so far. */
  let lineBytes = 0;

  /** True if a line that ends in the chunk, or its unfinished last line, is too long. */
  function hasLongLine(chunk: Uint8Array): boolean {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      if (lineBytes + end - start > maxLineBytes) return true;
      lineBytes = 0;
      start = end + 1;
    }
    lineBytes += chunk.length - start;
    return lineBytes > maxLineBytes;
  }

  return new TransformStream({
    transform(chunk: Uint8Array, controller) {
      bytes += chunk.length;
      const isLong = hasLongLine(chunk);
      if (bytes <= maxBytes && !isLong) return controller.enqueue(chunk);
      const what = isLong ? `a line of its answer is longer than ${maxLineBytes} bytes` : `its answer is longer than ${maxBytes} bytes`;
      throw new ProviderRefusal(what, { isPermanent: false });
    },
  });
}

function forbidden(host: string): ProviderRefusal {
  return new ProviderRefusal(`${host} is not a public address; OUTBOUND_ALLOW_CIDRS can allow it`, { isPermanent: true });
}
