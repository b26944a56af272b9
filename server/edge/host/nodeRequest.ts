/** NodeRequest implements `HttpRequest` for one request of node:http. */
import type { IncomingMessage } from "node:http";
import { type ByteAllowance, ClientGone, type HeaderName, type HttpRequest, type RequestBody } from "./port.ts";
import { findHeadFault, toReadName } from "./requestHead.ts";

export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly fault: string | undefined;
  readonly incoming: IncomingMessage;
  private controller: AbortController | undefined;
  private gone = false;

  constructor(incoming: IncomingMessage) {
    this.incoming = incoming;
    this.method = incoming.method ?? "GET";
    // Reduce a target in absolute form (RFC 9112, 3.2.2) to its path and query.
    const target = (incoming.url ?? "/").replace(/^https?:\/\/[^/?]*/i, "");
    const mark = target.indexOf("?");
    this.path = (mark === -1 ? target : target.slice(0, mark)) || "/";
    this.query = mark === -1 ? "" : target.slice(mark + 1);
    this.remoteAddress = incoming.socket.remoteAddress ?? "";
    const { method, path, query } = this;
    const headers: string[] = [];
    for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
      const name = toReadName(incoming.rawHeaders[at]?.toLowerCase() ?? "");
      if (name !== undefined) headers.push(name, incoming.rawHeaders[at + 1] ?? "");
    }
    this.fault = findHeadFault({ method, path, query, headers });
  }

  header(name: HeaderName): string | undefined {
    return this.incoming.headersDistinct[name]?.join(", ");
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.gone) this.controller.abort(new ClientGone());
    return this.controller.signal;
  }

  abort(): void {
    this.gone = true;
    this.controller?.abort(new ClientGone());
  }

  /** The stream is paused until `read`. It then holds at most its own buffer (64 KiB), which does not count. */
  body(allowance: ByteAllowance): RequestBody {
    const { incoming } = this;
    const isChunked = incoming.headers["transfer-encoding"] !== undefined;
    const declaredBytes = isChunked ? undefined : Number(incoming.headers["content-length"] ?? 0);
    return { declaredBytes, read: (maxBytes) => readBody(incoming, declaredBytes, maxBytes, allowance) };
  }
}

function readBody(
  incoming: IncomingMessage,
  declaredBytes: number | undefined,
  maxBytes: number,
  allowance: ByteAllowance,
): Promise<Uint8Array | "too_large" | "no_room"> {
  if ((declaredBytes ?? 0) > maxBytes) return Promise.resolve("too_large");
  return new Promise((resolve, reject) => {
    let parts: Buffer[] | undefined = [];
    let totalBytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      if (parts === undefined) return;
      totalBytes += chunk.length;
      const refusal = totalBytes > maxBytes ? "too_large" : allowance.take(chunk.length) ? undefined : "no_room";
      if (refusal === undefined) {
        parts.push(chunk);
        return;
      }
      parts = undefined;
      resolve(refusal);
    });
    incoming.on("end", () => {
      resolve(Buffer.concat(parts ?? [], parts === undefined ? 0 : totalBytes));
      // The request may last longer than the memory of its body may be held.
      parts = undefined;
    });
    incoming.on("close", () => reject(new ClientGone()));
    incoming.on("error", () => reject(new ClientGone()));
    if (incoming.destroyed) reject(new ClientGone());
  });
}
