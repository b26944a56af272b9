/**
 * OutboundFetch sends one HTTPS request over one connection to an address that a caller chose, and reads one answer.
 *
 * Each request resolves and checks the host again. It connects only to a checked address and compares the connected
 * peer once more. SNI, the certificate check and `Host` use the host name. Redirects are returned as ordinary answers,
 * connections are never shared, proxy variables are ignored and answers are never decompressed. The byte limit of an
 * answer applies to the connection, including head and framing ([OB9]).
 *
 * This module knows nothing of webhooks or retries. Outcomes are values; only the caller's own abort and errors of the
 * caller's own functions are thrown.
 */
import { Writable } from "node:stream";
import type { SecureContext } from "node:tls";
import type { buildConnector, Client, Dispatcher } from "undici";
import { AppError } from "../../../api/schema/error.ts";
import { type BoundedSocket, toClientSocket } from "./boundedSocket.ts";
import { startDeadline } from "./deadline.ts";
import { dial } from "./dial.ts";
import { type OutboundFailure, toOutboundFailure } from "./failure.ts";
import type { CheckPublicUrl } from "./publicUrl.ts";

export interface OutboundRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Milliseconds from the start until the head of the answer. The remaining time limits the reading of the body. */
  readonly totalMs: number;
  /** Milliseconds from the start until the TLS handshake is done, including name resolution. */
  readonly connectMs: number;
  /**
   * Maximum decrypted bytes of the whole answer: interim answers, status line, head, chunk framing and body. Bytes
   * after the maximum are not read.
   */
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  /**
   * Called after the connection is open and before anything is sent, because connecting may have taken long. Its errors
   * are thrown.
   */
  readonly isStillWanted?: () => Promise<boolean>;
}

export interface OutboundAnswer {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /**
   * The body as sent, without chunk framing. It is cut off at `maxResponseBytes`, at the end of `totalMs`, or where the
   * receiver closes the connection.
   */
  readonly body: Uint8Array;
  /** False if the body was cut off. */
  readonly isComplete: boolean;
}

export type OutboundOutcome =
  | OutboundAnswer
  | { readonly kind: "failed"; readonly reason: OutboundFailure }
  /** `isStillWanted` returned false, so nothing was sent. */
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
    let socket: BoundedSocket | undefined;
    let client: Client | undefined;
    let asking = false;
    try {
      const target = await checkUrl(request.url, connect.signal);
      const { maxResponseBytes: maxReadBytes } = request;
      const connected = await dial({ target, signal: connect.signal, maxReadBytes, secureContext });
      socket = connected;
      connect.clear();
      asking = true;
      if ((await request.isStillWanted?.()) === false) return { kind: "withheld" };
      asking = false;
      // A synchronous callback would make the client treat the connection as still connecting.
      const connector: buildConnector.connector = (_options, done) => queueMicrotask(() => done(null, toClientSocket(connected)));
      const { Client: HttpClient } = await import("undici");
      client = new HttpClient(target.url.origin, {
        connect: connector,
        headersTimeout: 0,
        bodyTimeout: 0,
        maxHeaderSize: maxReadBytes,
      });
      const answer = await readAnswer(client, {
        path: `${target.url.pathname}${target.url.search}`,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        reset: true,
        signal: total.signal,
      });
      request.signal.throwIfAborted();
      // The head and framing alone reached the limit. No honest receiver sends that much before a body.
      if (connected.isExceeded && answer.body.length === 0) return { kind: "failed", reason: "answer_too_long" };
      return answer;
    } catch (error) {
      request.signal.throwIfAborted();
      if (asking) throw error;
      if (socket?.isExceeded === true) return { kind: "failed", reason: "answer_too_long" };
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

/**
 * Reads the answer as far as it arrives. The status is in the head, so a body that is cut off by the byte limit, the
 * time limit or a connection reset is still an answer. Rejects only if there is no head.
 */
async function readAnswer(client: Client, options: Dispatcher.RequestOptions): Promise<OutboundAnswer> {
  let head: Pick<OutboundAnswer, "status" | "headers"> | undefined;
  const pieces: Uint8Array[] = [];
  const toBody = ({ statusCode, headers }: Dispatcher.StreamFactoryData): Writable => {
    head = { status: statusCode, headers: headers as OutboundAnswer["headers"] };
    return new Writable({
      write(piece: Uint8Array, _encoding, done) {
        pieces.push(piece);
        done();
      },
    });
  };
  const isComplete = await client.stream(options, toBody).then(
    () => true,
    (error: unknown) => {
      if (head === undefined) throw error;
      return false;
    },
  );
  if (head === undefined) throw new Error("the request ended without a response");
  return { kind: "answered", ...head, body: Buffer.concat(pieces), isComplete };
}
