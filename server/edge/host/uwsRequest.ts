/**
 * UwsRequest implements `HttpRequest` for one request on uWebSockets.js.
 *
 * The native request is valid only during its callback, so all its data is copied in the constructor. The native
 * response is valid until it ends or the connection closes. No native object may be used after that.
 */
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from "uWebSockets.js";
import { type ByteAllowance, ClientGone, type HeaderName, type HttpRequest, type RequestBody } from "./port.ts";
import { maxDiscardBytes } from "./reply.ts";
import { findHeadFault, toReadName } from "./requestHead.ts";
import { UwsBody } from "./uwsBody.ts";

const decoder = new TextDecoder();

export class UwsRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly response: NativeResponse;
  readonly fault: string | undefined;
  /** True after the response has ended or the client has disconnected. No native object may be used then. */
  over = false;
  onAbort: (() => void) | undefined;
  private opened: UwsBody | undefined;
  /** Names and values of the headers that the server reads alternate. An array is enough, because a request has few of them. */
  readonly headers: string[] = [];
  private address: string | undefined;
  private controller: AbortController | undefined;
  private aborted = false;

  constructor(response: NativeResponse, native: NativeRequest) {
    this.response = response;
    this.method = native.getCaseSensitiveMethod();
    this.path = native.getUrl();
    this.query = native.getQuery() ?? "";
    native.forEach((name, value) => {
      const readName = toReadName(name);
      if (readName !== undefined) this.headers.push(readName, value);
    });
    this.fault = findHeadFault(this);
    response.onAborted(() => this.abort());
  }

  header(name: HeaderName): string | undefined {
    const { headers } = this;
    let found: string | undefined;
    for (let at = 0; at < headers.length; at += 2) {
      if (headers[at] === name) found = found === undefined ? headers[at + 1] : `${found}, ${headers[at + 1]}`;
    }
    return found;
  }

  get remoteAddress(): string {
    if (this.address === undefined && !this.over) this.address = decoder.decode(this.response.getRemoteAddressAsText());
    return this.address ?? "";
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.aborted) this.controller.abort(new ClientGone());
    return this.controller.signal;
  }

  private abort(): void {
    this.over = true;
    this.aborted = true;
    this.opened?.abort();
    this.onAbort?.();
    this.controller?.abort(new ClientGone());
  }

  body(allowance: ByteAllowance): RequestBody {
    this.opened = new UwsBody(this.response, allowance, this.declaredBytes);
    return this.opened;
  }

  /**
   * True if the connection must be closed after this request. The end of the request is uncertain after a fault and after
   * a chunked body, because the library does not check its end (trailers, line ends). A body that is too large to discard
   * also closes the connection.
   */
  get endsConnection(): boolean {
    const { declaredBytes } = this;
    return this.fault !== undefined || declaredBytes === undefined || declaredBytes > maxDiscardBytes;
  }

  /** Value of `content-length`; 0 without that header; undefined for a chunked body. */
  private get declaredBytes(): number | undefined {
    if (this.header("transfer-encoding") !== undefined) return undefined;
    return Number(this.header("content-length") ?? 0);
  }

  discardBody(): void {
    this.opened?.discard();
  }
}
