/**
 * The only way out to addresses that callers choose: one HTTPS request, one connection, one answer.
 *
 * The host is resolved and checked anew for every request, the connection goes to an address that was checked, and
 * the connected peer is compared once more; SNI, the certificate check and `Host` keep the name. Redirects are
 * answers like any other, connections are never shared, proxy variables are not read, and what comes back is read
 * up to a cap and never inflated. It knows nothing of webhooks or retries: outcomes are values, and only the
 * caller's own abort and its own trouble are thrown.
 */
import type { SecureContext, TLSSocket } from "node:tls";
import { type buildConnector, Client } from "undici";
import { AppError } from "../../api/schema/error.ts";
import { startDeadline } from "./deadline.ts";
import { dial } from "./dial.ts";
import { type OutboundFailure, toOutboundFailure } from "./failure.ts";
import type { CheckPublicUrl } from "./publicUrl.ts";

export interface OutboundRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** From the start until the answer's head; what is left of it then bounds the reading of its body. */
  readonly totalMs: number;
  /** From the start until the TLS handshake is done, name look-up included. */
  readonly connectMs: number;
  /** The rest of the answer is left unread. */
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  /** Asked when the connection stands and before anything is sent: to connect may have taken long. What it throws is thrown. */
  readonly isStillWanted?: () => Promise<boolean>;
}

export type OutboundOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: Readonly<Record<string, string | readonly string[]>>;
      /** As sent, at most `maxResponseBytes`; shorter when the receiver drips or breaks off. */
      readonly body: Uint8Array;
    }
  | { readonly kind: "failed"; readonly reason: OutboundFailure }
  /** Not wanted any more: nothing was sent. */
  | { readonly kind: "withheld" };

export type OutboundFetch = (request: OutboundRequest) => Promise<OutboundOutcome>;

export function createOutboundFetch({
  checkUrl,
  secureContext,
}: {
  checkUrl: CheckPublicUrl;
  /** Certificates to trust instead of Node's own roots (and `NODE_EXTRA_CA_CERTS`). */
  secureContext?: SecureContext;
}): OutboundFetch {
  return async (request) => {
    const total = startDeadline(request.totalMs, request.signal);
    const connect = startDeadline(request.connectMs, total.signal);
    let socket: TLSSocket | undefined;
    let client: Client | undefined;
    let asking = false;
    try {
      const target = await checkUrl(request.url, connect.signal);
      const connected = await dial(target, connect.signal, secureContext);
      socket = connected;
      connect.clear();
      asking = true;
      if ((await request.isStillWanted?.()) === false) return { kind: "withheld" };
      asking = false;
      // Called in the same turn, the client would take the connection for one still being made.
      const connector: buildConnector.connector = (_options, done) => queueMicrotask(() => done(null, connected));
      client = new Client(target.url.origin, { connect: connector, headersTimeout: 0, bodyTimeout: 0 });
      const answer = await client.request({
        path: `${target.url.pathname}${target.url.search}`,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        reset: true,
        signal: total.signal,
      });
      const headers = answer.headers as Record<string, string | string[]>;
      const body = await readUpTo(answer.body, request.maxResponseBytes);
      request.signal.throwIfAborted();
      return { kind: "answered", status: answer.statusCode, headers, body };
    } catch (error) {
      request.signal.throwIfAborted();
      if (asking) throw error;
      if (total.passed) return { kind: "failed", reason: "timeout" };
      if (connect.passed) return { kind: "failed", reason: "connect_timeout" };
      if (error instanceof AppError) return { kind: "failed", reason: error.code as OutboundFailure };
      return { kind: "failed", reason: toOutboundFailure(error) };
    } finally {
      connect.clear();
      total.clear();
      await client?.destroy();
      socket?.destroy();
    }
  };
}

/** Whatever ends the body early (the cap, a drip, a reset), the answer's head has said what counts. */
async function readUpTo(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece.subarray(0, maxBytes - size));
      size += piece.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // What has come so far is the answer.
  }
  return Buffer.concat(pieces);
}
